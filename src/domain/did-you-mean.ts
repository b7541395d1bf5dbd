/** The known word closest to a mistyped one, if it is close enough to be meant. */
export function findClosest(word: string, known: readonly string[]): string | null {
  const allowed = Math.max(1, Math.floor(word.length / 4))
  const ranked = known
    .map((candidate) => ({ candidate, distance: editDistance(word.toUpperCase(), candidate.toUpperCase()) }))
    .toSorted((a, b) => a.distance - b.distance)
  return ranked[0] && ranked[0].distance <= allowed ? ranked[0].candidate : null
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++)
      current[j] = Math.min(previous[j]! + 1, current[j - 1]! + 1, previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    previous = current
  }
  return previous[b.length]!
}
