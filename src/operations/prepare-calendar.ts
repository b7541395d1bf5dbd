import { parseMailbox } from '../domain/address.js'
import { parseInstant } from '../domain/instant.js'
import type { Calendar, Mailbox } from '../domain/message.js'
import type { CalendarEvent, NewCalendar } from '../domain/new-email.js'
import type { Problem } from '../errors.js'
import { buildCalendar, findEventProblems } from '../mime/calendar.js'
import { checkIcs } from '../mime/check-ics.js'

type Refuse = (path: Problem['path'], detail: string) => void

/** A calendar part: the caller's own ICS, checked, or one built from an event. `stampedAt` is when it was asked for. */
export function prepareCalendar(calendar: NewCalendar, stampedAt: Date, refuse: Refuse): Calendar | null {
  if ('ics' in calendar) {
    const checked = checkIcs(calendar.ics, calendar.method)
    if (checked.ok) return checked.calendar
    refuse(['calendar', 'ics'], checked.problem)
    return null
  }
  return buildFromEvent(calendar.event, calendar.method, stampedAt, refuse)
}

function buildFromEvent(
  event: CalendarEvent,
  method: Calendar['method'],
  stampedAt: Date,
  refuse: Refuse,
): Calendar | null {
  const path = ['calendar', 'event']
  let valid = true
  const wrong = (where: Problem['path'], detail: string) => {
    valid = false
    refuse([...path, ...where], detail)
  }
  const mailbox = (person: { name?: string; address: string }, where: Problem['path']): Mailbox => {
    const parsed = parseMailbox(person.address)
    if (!parsed) wrong([...where, 'address'], 'must be one address, such as ada@example.com')
    return { address: parsed?.address ?? '', name: person.name ?? parsed?.name ?? null }
  }
  const instant = (name: 'startsAt' | 'endsAt'): Date => {
    const given = event[name]
    const read = given instanceof Date ? given : parseInstant(given)
    if (read instanceof Date) return read
    wrong([name], read)
    return new Date(Number.NaN)
  }
  const complete = {
    ...event,
    startsAt: instant('startsAt'),
    endsAt: instant('endsAt'),
    organizer: mailbox(event.organizer, ['organizer']),
    attendees: (event.attendees ?? []).map((person, index) => mailbox(person, ['attendees', index])),
  }
  // What was said of a field is not said once more of the event.
  if (valid) for (const problem of findEventProblems(complete)) wrong([], problem)
  return valid ? buildCalendar(complete, method, stampedAt) : null
}
