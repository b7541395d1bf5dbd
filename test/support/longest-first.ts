import type { TestSpecification } from 'vitest/node'
import { BaseSequencer } from 'vitest/node'

/**
 * The files that take minutes, longest first. One of them begun last would run alone while every other processor is idle.
 * A name that is not here only costs time.
 */
const LONGEST = [
  'kill/a-storm-on-the-embedded-database',
  'promises/a-crashed-worker-loses-nothing',
  'kill/a-storm-on-postgresql',
  'promises/embedded-crash',
  'sequences/two-launch-at-once',
  'sequences/a-simulated-year',
  'brokers/the-broker-comes-and-goes',
  'sequences/event-against-timeout',
  'promises/the-database-may-go-away',
  'kill/a-frozen-worker-sends-nothing-late',
  'kill/a-wrong-clock-decides-nothing',
  'kill/killed-at-a-point',
  'promises/lanes-share-fairly',
  'cli/postgres',
  'cli/embedded',
  'cli/emails',
  'promises/the-kernel-follows-its-model',
  'cli/usage',
  'providers/smtp-faults',
  'promises/embedded-ownership',
]

const rank = ({ moduleId }: TestSpecification): number => {
  const place = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`))
  return place === -1 ? LONGEST.length : place
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- vitest's, which returns another list
    const usual = await super.sort(files)
    return usual.toSorted((a, b) => rank(a) - rank(b))
  }
}
