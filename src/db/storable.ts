const REASON_LENGTH = 2_000

/** A reason's text may be anything, and PostgreSQL holds no NUL characters. It must never keep an outcome from being written. */
export const storable = (text: string): string => text.replaceAll('\0', '').slice(0, REASON_LENGTH).toWellFormed()
