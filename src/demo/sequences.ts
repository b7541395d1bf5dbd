import type { TemplateName } from './templates.js'

/**
 * What somebody with a first garden gets over a week. It is sped up without a lying clock: its delays are written
 * shorter, `fast` times, and everything else about it is as it would be.
 */
const DAY_MINUTES = 1_440
/** A day is a minute: shorter than that a sequence cannot wait. */
export const FASTEST = DAY_MINUTES

export function firstGardens(templates: Readonly<Record<TemplateName, string>>, fast: number): object {
  const days = (count: number) => ({ minutes: Math.max(1, Math.round((count * DAY_MINUTES) / fast)) })
  return {
    name: 'First gardens',
    nodes: [
      { id: 'welcome', type: 'send', template: templates.welcome, next: 'knows-it' },
      {
        id: 'knows-it',
        type: 'branch',
        // Who knows how to garden has had enough with the first: no `then` is the end.
        if: { attribute: 'experience', is: 'equals', value: 'expert' },
        else: 'reads-it',
      },
      {
        id: 'reads-it',
        type: 'wait_for',
        event: 'clicked',
        timeout: days(2),
        on_event: 'guide',
        on_timeout: 'nudge',
      },
      { id: 'guide', type: 'send', template: templates.guide, next: 'sprouts' },
      { id: 'nudge', type: 'send', template: templates.nudge, next: 'sprouts' },
      // Planned together with the one before it, so that a calendar shows it.
      { id: 'sprouts', type: 'send', template: templates.sprouts, delay: days(2), next: 'grows' },
      { id: 'grows', type: 'wait', duration: days(3), next: 'has-room' },
      {
        id: 'has-room',
        type: 'branch',
        if: { attribute: 'garden', is: 'in', value: ['allotment', 'backyard'] },
        // oxlint-disable-next-line unicorn/no-thenable -- the name of a field
        then: 'offer',
        else: 'enough',
      },
      { id: 'offer', type: 'send', template: templates.offer },
      { id: 'enough', type: 'stop' },
    ],
  }
}

/** And one that takes the days it says, by a sender with office hours: its emails are on the calendar of the next week. */
export const seedSavers = (templates: Readonly<Record<TemplateName, string>>): object => ({
  name: 'Seed savers',
  steps: [{ template: templates.jars }, { template: templates.swap, delay_days: 2 }],
})
