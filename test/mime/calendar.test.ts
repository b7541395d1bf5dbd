import fc from 'fast-check'
import ical, { ICalAttendeeRole, ICalAttendeeStatus, ICalCalendarMethod, ICalEventStatus } from 'ical-generator'
import { describe, expect, it } from 'vitest'
import { buildCalendar, findEventProblems } from '../../src/mime/calendar.js'
import type { CalendarEvent } from '../../src/mime/calendar.js'
import { checkIcs } from '../../src/mime/check-ics.js'

const STAMP = new Date('2026-11-16T03:00:00Z')
const EVENT: CalendarEvent = {
  uid: 'event-1@example.com',
  title: 'Lunch',
  startsAt: new Date('2026-11-20T11:30:00Z'),
  endsAt: new Date('2026-11-20T12:30:00Z'),
  location: 'Café, 1; Main St',
  description: 'Line one\nLine two \\ end',
  organizer: { name: 'Ada "The Countess"', address: 'ada@example.com' },
  attendees: [
    { name: 'Bob', address: 'bob@example.org' },
    { name: null, address: 'eve@example.org' },
  ],
}

/** Unfolded lines, with text unescaped, as a calendar reads them. */
function read(ics: string): string[] {
  return ics.replaceAll('\r\n ', '').trimEnd().split('\r\n')
}

function textOf(ics: string, property: string): string | undefined {
  const line = read(ics).find((line) => line.startsWith(`${property}:`))
  return line
    ?.slice(property.length + 1)
    .replaceAll(/\\(.)/g, (_, character: string) => (character.toLowerCase() === 'n' ? '\n' : character))
}

describe('an invitation', () => {
  it('is what calendars expect', () => {
    const { ics, method } = buildCalendar({ ...EVENT, sequence: 2 }, 'REQUEST', STAMP)
    expect(method).toBe('REQUEST')
    expect(read(ics)).toEqual([
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'PRODID:-//Postrider//Postrider//EN',
      'CALSCALE:GREGORIAN',
      'METHOD:REQUEST',
      'BEGIN:VEVENT',
      'UID:event-1@example.com',
      'SEQUENCE:2',
      'DTSTAMP:20261116T030000Z',
      'DTSTART:20261120T113000Z',
      'DTEND:20261120T123000Z',
      'SUMMARY:Lunch',
      'LOCATION:Café\\, 1\\; Main St',
      'DESCRIPTION:Line one\\nLine two \\\\ end',
      `ORGANIZER;CN="Ada 'The Countess'":mailto:ada@example.com`,
      'ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=TRUE;CN="Bob":mailto:bob@example.org',
      'ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:eve@example.org',
      'STATUS:CONFIRMED',
      'TRANSP:OPAQUE',
      'END:VEVENT',
      'END:VCALENDAR',
    ])
  })

  it("says the same as ical-generator's", () => {
    const text = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 200 })
      .map((text) => text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' '))
    fc.assert(
      fc.property(text, text, text, (title, location, description) => {
        const theirs = ical({ method: ICalCalendarMethod.REQUEST })
        theirs.createEvent({
          id: EVENT.uid,
          sequence: 0,
          start: EVENT.startsAt,
          end: EVENT.endsAt,
          stamp: STAMP,
          summary: title,
          location: { title: location },
          description,
          status: ICalEventStatus.CONFIRMED,
          organizer: { name: 'Ada', email: 'ada@example.com' },
          attendees: [
            { email: 'b@x.org', role: ICalAttendeeRole.REQ, status: ICalAttendeeStatus.NEEDSACTION, rsvp: true },
          ],
        })
        const ours = buildCalendar({ ...EVENT, title, location, description }, 'REQUEST', STAMP).ics
        for (const property of ['UID', 'SEQUENCE', 'DTSTAMP', 'DTSTART', 'DTEND', 'METHOD', 'STATUS'])
          expect(textOf(ours, property)).toBe(textOf(theirs.toString(), property))
        for (const property of ['SUMMARY', 'LOCATION', 'DESCRIPTION'])
          expect(textOf(ours, property)).toBe(textOf(theirs.toString(), property))
      }),
      { numRuns: 200 },
    )
  })

  it('is cancelled under the same UID with a higher SEQUENCE', () => {
    const { ics } = buildCalendar({ ...EVENT, sequence: 3 }, 'CANCEL', STAMP)
    const expected = ['METHOD:CANCEL', 'UID:event-1@example.com', 'SEQUENCE:3', 'STATUS:CANCELLED']
    expect(read(ics)).toEqual(expect.arrayContaining(expected))
  })

  it('has lines of at most 75 octets, and no text of an event can add one', () => {
    const text = fc
      .array(
        fc.constantFrom(
          'a',
          'é',
          '🚀',
          '\n',
          '\r',
          '\r\n',
          '\u2028',
          '\0',
          '"',
          ';',
          ',',
          '\\',
          ':',
          'END:VEVENT',
          ' '.repeat(80),
        ),
        { minLength: 1 },
      )
      .map((parts) => parts.join(''))
    const plain = read(buildCalendar(EVENT, 'REQUEST', STAMP).ics).map((line) => /^[A-Z]+/.exec(line)![0])
    fc.assert(
      fc.property(text, (text) => {
        const event = {
          ...EVENT,
          uid: text,
          title: text,
          location: text,
          description: text,
          organizer: { name: text, address: `a${text}@x.org` },
        }
        const { ics } = buildCalendar(event, 'REQUEST', STAMP)
        expect(ics.endsWith('\r\n')).toBe(true)
        expect(ics).not.toMatch(/\r(?!\n)|(?<!\r)\n/)
        for (const line of ics.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75)
        expect(read(ics).map((line) => /^[A-Z]+/.exec(line)?.[0])).toEqual(plain)
        expect(textOf(ics, 'SUMMARY')).toBe(text.replaceAll(/\r\n?|\u2028/g, '\n').replaceAll('\0', ' '))
      }),
    )
  })

  it('is shown in its zone, with the offset of that day', () => {
    const winter = read(buildCalendar({ ...EVENT, timezone: 'Europe/Paris' }, 'REQUEST', STAMP).ics)
    expect(winter).toContain('DTSTART;TZID=Europe/Paris:20261120T123000')
    expect(winter).toContain('DTEND;TZID=Europe/Paris:20261120T133000')
    expect(winter).toContain('TZOFFSETTO:+0100')
    const summer = { ...EVENT, startsAt: new Date('2026-07-01T22:30:00Z'), endsAt: new Date('2026-07-01T23:30:00Z') }
    expect(read(buildCalendar({ ...summer, timezone: 'Europe/Paris' }, 'REQUEST', STAMP).ics)).toContain(
      'DTSTART;TZID=Europe/Paris:20260702T003000',
    )
    const india = read(buildCalendar({ ...EVENT, timezone: 'Asia/Kolkata' }, 'REQUEST', STAMP).ics)
    expect(india).toContain('TZOFFSETTO:+0530')
    const newfoundland = read(buildCalendar({ ...EVENT, timezone: 'America/St_Johns' }, 'REQUEST', STAMP).ics)
    expect(newfoundland).toContain('TZOFFSETTO:-0330')
    expect(newfoundland).toContain('DTSTART;TZID=America/St_Johns:20261120T080000')
  })

  it('is written in UTC across a change of the clocks, and before there was standard time', () => {
    const across = { ...EVENT, startsAt: new Date('2026-10-24T22:00:00Z'), endsAt: new Date('2026-10-25T10:00:00Z') }
    const old = { ...EVENT, startsAt: new Date('1850-01-01T00:00:00Z'), endsAt: new Date('1850-01-01T01:00:00Z') }
    for (const event of [across, old])
      expect(buildCalendar({ ...event, timezone: 'Europe/Paris' }, 'REQUEST', STAMP).ics).not.toContain('TZID')
  })

  it.each([
    [{ uid: ' ' }, 'uid is empty'],
    [{ title: '' }, 'title is empty'],
    [{ sequence: -1 }, 'sequence'],
    [{ sequence: 1.5 }, 'sequence'],
    [{ endsAt: EVENT.startsAt }, 'ends_at must be after starts_at'],
    [{ startsAt: new Date(Number.NaN) }, 'starts_at'],
    [{ timezone: 'Mars/Olympus' }, 'timezone'],
    [{ timezone: 'Europe/Paris\r\nX:1' }, 'timezone'],
    [{ timezone: '+01:00' }, 'timezone'],
    [{ timezone: '' }, 'timezone'],
  ])('is not made from %j', (changes, words) => {
    expect(findEventProblems({ ...EVENT, ...changes })).toEqual([expect.stringContaining(words)])
  })

  it('has nothing wrong with it otherwise', () => {
    expect(findEventProblems({ ...EVENT, timezone: 'Europe/Paris', sequence: 7 })).toEqual([])
  })
})

describe('a given ICS', () => {
  const given = (...lines: string[]) => ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR'].join('\n')

  it('is taken with the method it names', () => {
    const checked = checkIcs(given('METHOD:REQUEST'), 'REQUEST')
    const ics = `${given('METHOD:REQUEST').replaceAll('\n', '\r\n')}\r\n`
    expect(checked).toEqual({ ok: true, calendar: { method: 'REQUEST', ics } })
    expect(checkIcs(given('method:request'), 'REQUEST').ok).toBe(true)
    expect(checkIcs(given('METHOD;X=1:REQUEST'), 'REQUEST').ok).toBe(true)
    expect(checkIcs(given('METH\n OD:REQUEST'), 'REQUEST')).toMatchObject({ ok: true })
    expect(checkIcs(`\uFEFF${given('METHOD:REQUEST')}\n`, 'REQUEST').ok).toBe(true)
    expect(checkIcs(buildCalendar(EVENT, 'CANCEL', STAMP).ics, 'CANCEL').ok).toBe(true)
  })

  it('is given the method it lacks', () => {
    const checked = checkIcs(given('SUMMARY:x'), 'CANCEL')
    expect(checked.ok && checked.calendar.ics.split('\r\n').slice(0, 3)).toEqual([
      'BEGIN:VCALENDAR',
      'METHOD:CANCEL',
      'VERSION:2.0',
    ])
  })

  it.each([
    ['', 'BEGIN:VCALENDAR'],
    ['hello', 'BEGIN:VCALENDAR'],
    ['BEGIN:VEVENT\nEND:VEVENT', 'BEGIN:VCALENDAR'],
    ['X\nBEGIN:VCALENDAR\nEND:VCALENDAR', 'BEGIN:VCALENDAR'],
    ['BEGIN:VCALENDAR', 'END:VCALENDAR'],
    [given('METHOD:CANCEL'), 'METHOD:CANCEL'],
    [given('METHOD:PUBLISH'), 'METHOD:PUBLISH'],
    [given('METHOD:REQUEST', 'METHOD:REQUEST'), 'more than one'],
    [given('\0'), 'NUL'],
  ])('is refused in words: %j', (ics, words) => {
    expect(checkIcs(ics, 'REQUEST')).toEqual({ ok: false, problem: expect.stringContaining(words) })
  })
})
