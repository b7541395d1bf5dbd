/** An error whose one sentence is the whole story: vitest prints stacks, and here a stack would only bury it. */
export function plainError(message: string): Error {
  const error = new Error(message)
  error.stack = message
  return error
}
