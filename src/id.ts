import { uuidv7 } from 'uuidv7'

/** Ids are made by us, not by the database: they sort by time, and PostgreSQL makes such ids only from version 18. */
export const newId = (): string => uuidv7()

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const isId = (text: string): boolean => UUID.test(text)

/** The smallest id an instant can have: everything made before it sorts below. */
export function firstIdAt(instant: Date): string {
  const hex = instant.getTime().toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

/** When an id was made, to the millisecond. */
export const instantOf = (id: string): Date => new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16))

/** The workspace that exists without anybody making one. */
export const DEFAULT_WORKSPACE = '00000000-0000-7000-8000-000000000000'

/** Ids that people see say what they are of. */
export const ID_PREFIXES = [
  'em',
  'snd',
  'key',
  'evt',
  'cap',
  'ctc',
  'lst',
  'imp',
  'tpl',
  'cmp',
  'seq',
  'enr',
  'usr',
  'aud',
] as const
export type IdPrefix = (typeof ID_PREFIXES)[number]

export const showId = (prefix: IdPrefix, id: string): string => `${prefix}_${id.replaceAll('-', '')}`

/** The id behind what people see; null for anything else. */
export function readId(prefix: IdPrefix, text: string): string | null {
  const hex = /^([a-z]+)_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(text)
  return hex?.[1] === prefix ? hex.slice(2).join('-') : null
}

/** The default workspace's sender of the settings. */
export const DEFAULT_SENDER = '00000000-0000-7000-8000-000000000001'
