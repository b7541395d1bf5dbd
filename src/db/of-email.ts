/**
 * Which actions hand an email over: those with its message, or, of a campaign, the one that is the email itself. Each half
 * is found by an index of its own. One index for both would be written for every recipient of every campaign, to find
 * what the primary key finds anyway.
 *
 * `id` is an SQL expression; with `many`, of a list of ids.
 */
interface Shape {
  readonly alias?: string
  readonly many?: boolean
}

const columnOf = (alias: string) => (alias === '' ? '' : `${alias}.`)
const isOne = (id: string, many: boolean) => (many ? `= any (${id})` : `= ${id}`)

/** Of a single email. */
export const ofMessage = (id: string, { alias = '', many = false }: Shape = {}): string =>
  `${columnOf(alias)}message_id ${isOne(id, many)} and ${columnOf(alias)}contact_id is null`

/** Of either kind. */
export const ofEmail = (id: string, { alias = '', many = false }: Shape = {}): string =>
  `(${ofMessage(id, { alias, many })} or ${columnOf(alias)}id ${isOne(id, many)} and ${columnOf(alias)}contact_id is not null)`
