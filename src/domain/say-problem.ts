interface Said {
  readonly path: readonly (string | number)[]
  readonly detail: string
}

/** Goes on where the name of a field leaves off: "subject must be one line". */
const PREDICATE =
  /^(?:must|is|are|was|has|have|contains?|cannot|can|may|needs?|names|nests|ends|begins|belongs?|goes)\b/

/** What is wrong where, for people: the detail as the rest of a sentence, or as one of its own after a colon. */
export function sayProblem({ path, detail }: Said, whole = 'the body'): string {
  const place = placeOf(path, whole)
  return PREDICATE.test(detail) ? `${place} ${detail}` : `${place}: ${detail}`
}

const SHOWN = 5
const LONGEST_PLACE = 100

/** All of them, or the first few, without the full stop. */
export function sayProblems(problems: readonly Said[], whole?: string): string {
  const said = problems.slice(0, SHOWN).map((problem) => sayProblem(problem, whole))
  return `${said.join('; ')}${problems.length > SHOWN ? `; and ${problems.length - SHOWN} more` : ''}`
}

/** `attachments[0].content`; an entry of a list that has no name is one of the whole, `emails[2].subject`. */
function placeOf(path: Said['path'], whole: string): string {
  if (path.length === 0) return whole
  const [first] = path
  const start = typeof first === 'number' ? whole.replace(/^the /, '') : ''
  const place = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('')
  return `${start}${start === '' ? place.slice(1) : place}`.slice(0, LONGEST_PLACE)
}
