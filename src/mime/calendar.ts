import type { Calendar, Mailbox } from '../domain/message.js'

export interface CalendarEvent {
  /** The same for every update and for the cancellation of one event: that is how calendars know it again. */
  readonly uid: string
  /** Higher with every update; a calendar ignores what is older than what it has. */
  readonly sequence?: number | undefined
  readonly title: string
  readonly startsAt: Date
  readonly endsAt: Date
  /** The zone in which calendars show it as planned, e.g. `Europe/Paris`. UTC if absent. */
  readonly timezone?: string | undefined
  readonly location?: string | undefined
  readonly description?: string | undefined
  readonly organizer: Mailbox
  readonly attendees: readonly Mailbox[]
}

/** What is wrong with an event, in words; nothing, if the list is empty. */
export function findEventProblems(event: CalendarEvent): string[] {
  const problems: string[] = []
  if (event.uid.trim() === '') problems.push('uid is empty')
  if (event.title.trim() === '') problems.push('title is empty')
  const sequence = event.sequence ?? 0
  if (!Number.isInteger(sequence) || sequence < 0 || sequence > 2 ** 31 - 1)
    problems.push('sequence must be a whole number from 0 to 2147483647')
  const invalid = [event.startsAt, event.endsAt].some((instant) => !isWritable(instant))
  if (invalid) problems.push('starts_at and ends_at must be instants between the years 1 and 9999')
  else if (event.endsAt <= event.startsAt) problems.push('ends_at must be after starts_at')
  if (event.timezone !== undefined && !isTimezone(event.timezone))
    problems.push(`timezone is not one we know: ${JSON.stringify(event.timezone)}`)
  return problems
}

/**
 * An invitation to an event, or its cancellation, as RFC 5545 and 5546 have it. The same arguments give the same bytes.
 *
 * Written by hand because it is one page: ical-generator leaves the VTIMEZONE, without which Outlook does not know what
 * a TZID means, to yet another package.
 *
 * @param stampedAt DTSTAMP: when this version of the event was made, which is when the email was accepted.
 */
export function buildCalendar(event: CalendarEvent, method: Calendar['method'], stampedAt: Date): Calendar {
  const zone = findZone(event)
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Postrider//Postrider//EN',
    'CALSCALE:GREGORIAN',
    `METHOD:${method}`,
    ...(zone ? writeZone(zone) : []),
    'BEGIN:VEVENT',
    `UID:${escapeText(event.uid)}`,
    `SEQUENCE:${event.sequence ?? 0}`,
    `DTSTAMP:${formatUtc(stampedAt)}`,
    writeInstant('DTSTART', event.startsAt, zone),
    writeInstant('DTEND', event.endsAt, zone),
    `SUMMARY:${escapeText(event.title)}`,
    ...(event.location ? [`LOCATION:${escapeText(event.location)}`] : []),
    ...(event.description ? [`DESCRIPTION:${escapeText(event.description)}`] : []),
    `ORGANIZER${writeName(event.organizer)}:mailto:${toUri(event.organizer.address)}`,
    ...event.attendees.map(
      (attendee) =>
        `ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=${method === 'REQUEST' ? 'TRUE' : 'FALSE'}` +
        `${writeName(attendee)}:mailto:${toUri(attendee.address)}`,
    ),
    `STATUS:${method === 'REQUEST' ? 'CONFIRMED' : 'CANCELLED'}`,
    'TRANSP:OPAQUE',
    'END:VEVENT',
    'END:VCALENDAR',
  ]
  return { method, ics: lines.map((line) => `${fold(line)}\r\n`).join('') }
}

interface Zone {
  readonly name: string
  readonly offsetMinutes: number
}

/**
 * The event's zone with the one offset that holds from its start to its end. An event across a change of the clocks is
 * written in UTC instead, which is always right; the zone is only a courtesy.
 */
function findZone(event: CalendarEvent): Zone | null {
  const name = event.timezone
  if (name === undefined || name.toUpperCase() === 'UTC') return null
  const offsetMinutes = offsetAt(event.startsAt, name)
  return offsetMinutes === offsetAt(event.endsAt, name) ? { name, offsetMinutes } : null
}

function offsetAt(instant: Date, timezone: string): number {
  const parts = new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset' }).formatToParts(instant)
  const offset = /^GMT(?:([+-])(\d\d):(\d\d))?$/.exec(parts.find((part) => part.type === 'timeZoneName')?.value ?? '')
  // Before standard time there were offsets in seconds, which no calendar writes. NaN equals nothing: the event is in UTC.
  if (!offset) return Number.NaN
  return (offset[1] === '-' ? -1 : 1) * (Number(offset[2] ?? 0) * 60 + Number(offset[3] ?? 0))
}

/** Enough of a VTIMEZONE for the only two instants that refer to it. */
function writeZone({ name, offsetMinutes }: Zone): string[] {
  const minutes = Math.abs(offsetMinutes)
  const offset = `${offsetMinutes < 0 ? '-' : '+'}${twoDigits(Math.floor(minutes / 60))}${twoDigits(minutes % 60)}`
  return [
    'BEGIN:VTIMEZONE',
    `TZID:${name}`,
    'BEGIN:STANDARD',
    'DTSTART:19700101T000000',
    `TZOFFSETFROM:${offset}`,
    `TZOFFSETTO:${offset}`,
    'END:STANDARD',
    'END:VTIMEZONE',
  ]
}

function writeInstant(property: string, instant: Date, zone: Zone | null): string {
  if (!zone) return `${property}:${formatUtc(instant)}`
  const local = new Date(instant.getTime() + zone.offsetMinutes * 60_000)
  return `${property};TZID=${zone.name}:${formatUtc(local).slice(0, -1)}`
}

function formatUtc(instant: Date): string {
  return `${instant.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}

function isWritable(instant: Date): boolean {
  const year = instant.getUTCFullYear()
  return year >= 1 && year <= 9999
}

/** A name, and not an offset such as `+01:00`, which newer engines take for a zone as well. */
function isTimezone(name: string): boolean {
  if (!/^[A-Za-z][\w+/-]*$/.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

function escapeText(text: string): string {
  return withoutControls(text)
    .replaceAll(/[\\;,]/g, String.raw`\$&`)
    .replaceAll('\n', String.raw`\n`)
}

/** A parameter cannot escape a double quote or a line break, so neither survives (RFC 5545 3.2). */
function writeName({ name }: Mailbox): string {
  const safe = withoutControls(name ?? '')
    .replaceAll('\n', ' ')
    .replaceAll('"', "'")
    .trim()
  return safe === '' ? '' : `;CN="${safe}"`
}

function toUri(address: string): string {
  return withoutControls(address).replaceAll(/["\s%<>\\^`{|}?#]/g, (character) => encodeURIComponent(character))
}

function withoutControls(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    .replaceAll(/(?!\n)\p{Cc}/gu, ' ')
}

/** Lines of at most 75 octets, never broken inside a character (RFC 5545 3.1). */
function fold(line: string): string {
  if (Buffer.byteLength(line) <= 75) return line
  let folded = ''
  let octets = 0
  for (const character of line) {
    const size = Buffer.byteLength(character)
    if (octets + size > 75) {
      folded += '\r\n '
      octets = 1
    }
    folded += character
    octets += size
  }
  return folded
}
