import type { Calendar } from '../domain/message.js'
import { toCrlf } from './text-body.js'

export type CheckedIcs =
  | { readonly ok: true; readonly calendar: Calendar }
  /** What is wrong with it, in words. */
  | { readonly ok: false; readonly problem: string }

/**
 * An ICS that a caller made, for the method it named. Clients show their buttons only if the METHOD inside is the one
 * of the part that carries it, so a missing one is added and a different one is a mistake worth hearing about.
 * Everything else in it is the caller's business.
 */
export function checkIcs(ics: string, method: Calendar['method']): CheckedIcs {
  if (ics.includes('\0')) return refuse('contains a NUL character')
  const text = toCrlf(ics.replace(/^\uFEFF/, '').trim())
  // A folded line continues the one before it, so the names are looked for in whole lines.
  const lines = text.replaceAll(/\r\n[ \t]/g, '').split('\r\n')
  if (lines[0]?.trimEnd().toUpperCase() !== 'BEGIN:VCALENDAR') return refuse('must begin with BEGIN:VCALENDAR')
  if (lines.at(-1)?.trimEnd().toUpperCase() !== 'END:VCALENDAR') return refuse('must end with END:VCALENDAR')
  const methods = lines.flatMap((line) => /^METHOD(?:;[^:]*)?:(.*)$/i.exec(line)?.[1]?.trim().toUpperCase() ?? [])
  if (methods.length > 1) return refuse('has more than one METHOD')
  if (methods.length === 1 && methods[0] !== method)
    return refuse(`has METHOD:${methods[0]}, but the method named is ${method}`)
  const complete = methods.length === 1 ? text : text.replace('\r\n', `\r\nMETHOD:${method}\r\n`)
  return { ok: true, calendar: { method, ics: `${complete}\r\n` } }
}

function refuse(problem: string): CheckedIcs {
  return { ok: false, problem: `the ICS ${problem}` }
}
