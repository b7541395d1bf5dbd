import type { Calendar } from '../domain/message.js'
import type { NewCalendar } from '../domain/new-email.js'
import type { Problem } from '../errors.js'

export function prepareCalendar(
  calendar: NewCalendar,
  refuse: (path: Problem['path'], detail: string) => void,
): Calendar | null {
  if ('ics' in calendar) return calendar
  refuse(['calendar', 'event'], 'is not supported')
  return null
}
