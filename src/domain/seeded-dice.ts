/** Dice that fall the same way for the same text: from 0 to before 1. Not for secrets. */
export function seededDice(text: string): () => number {
  let state = 0x9e3779b9
  for (let place = 0; place < text.length; place++) state = stir(state ^ text.charCodeAt(place))
  return () => {
    // An odd step visits every number there is before it comes back to the first.
    state = (state + 0x6a09e667) | 0
    return (stir(state) >>> 0) / 2 ** 32
  }
}

/** One bit of it changed changes about half of what comes out. */
function stir(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x7feb352d)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b)
  return mixed ^ (mixed >>> 16)
}
