/** Who is always there: whoever starts Postrider logs in under this name. */
export const ADMIN_NAME = 'admin'

const NAME = /^[a-z0-9][a-z0-9._@+-]{0,63}$/

export const NAME_RULE = 'must have 1 to 64 letters, digits and . _ @ + -, and begin with a letter or a digit'

/** A name as it is stored, in lower case: ADA and ada are one person. Null for what is no name. */
export function foldName(text: string): string | null {
  const folded = text.trim().toLowerCase()
  return NAME.test(folded) ? folded : null
}

export const SHORTEST_PASSWORD = 10
/** More is no stronger, and somebody would have to hash it. */
export const LONGEST_PASSWORD = 200

/** What is wrong with a password somebody chose; null if nothing is. */
export function findPasswordProblem(password: string, name: string): string | null {
  const { length } = Array.from(password)
  if (length < SHORTEST_PASSWORD) return `must have at least ${SHORTEST_PASSWORD} characters; this one has ${length}`
  if (length > LONGEST_PASSWORD) return `must have at most ${LONGEST_PASSWORD} characters`
  if (new Set(password).size < 3) return 'must not be the same character again and again'
  if (password.trim().toLowerCase() === name) return 'must not be the name of the user'
  return null
}
