import { PostriderError } from '../errors.js'
import { isId, readId } from '../id.js'

/** As people see it, or as it stands in a log. */
export function readEmailId(text: string): string {
  const id = readId('em', text) ?? (isId(text) ? text : null)
  if (id === null) throw noSuchEmail(text)
  return id
}

export const noSuchEmail = (text: string): PostriderError =>
  new PostriderError(
    'email_not_found',
    `There is no email ${JSON.stringify(text)}. "postrider emails list" shows them.`,
  )
