import type { TestSpecification } from 'vitest/node'
import { BaseSequencer } from 'vitest/node'

/**
 * The files that take minutes, longest first. One of them begun last would run alone while every other processor is idle.
 * A name that is not here only costs time.
 */
const LONGEST = [
  'promises/a-crashed-worker-loses-nothing',
  'promises/embedded-crash',
  'promises/the-database-may-go-away',
  'kill/a-storm-on-the-embedded-database',
  'kill/a-frozen-worker-sends-nothing-late',
  'kill/a-storm-on-postgresql',
  'kill/a-storm-with-a-broker',
  'brokers/the-broker-comes-and-goes',
  'kill/a-campaign-survives-kills',
  'sequences/two-launch-at-once',
  'sequences/a-simulated-year',
  'cli/embedded',
  'kill/killed-at-a-point',
  'providers/smtp-faults',
  'sequences/event-against-timeout',
  'dashboard/emails',
  'dashboard/hostile',
  'dashboard/campaigns',
  'kill/a-wrong-clock-decides-nothing',
  'cli/admin',
  'cli/postgres',
  'cli/demo',
  'dashboard/templates',
  'http/sequences-are-launched',
  'cli/canary',
  'http/every-route-knows-its-caller',
  'promises/lanes-share-fairly',
]

const rank = ({ moduleId }: TestSpecification): number => {
  const place = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`))
  return place === -1 ? LONGEST.length : place
}

const isSharing = ({ project }: TestSpecification): boolean => !project.config.isolate

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- vitest's, which returns another list
    const usual = await super.sort(files)
    // Those that have a process of their own before those that share one: vitest ends a process that runs many files
    // when the next in the queue wants its own, and then the one after that loads everything anew.
    return usual.toSorted((a, b) => Number(isSharing(a)) - Number(isSharing(b)) || rank(a) - rank(b))
  }
}
