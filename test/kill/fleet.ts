import { setTimeout as sleep } from 'node:timers/promises'
import type { BuiltPackage } from '../support/build-package.js'
import type { SeededRandom } from '../support/seeded-random.js'
import { CALLERS } from './callers.js'
import type { Judge, Point } from './judge.js'
import type { MailSettings } from './mail-program.js'
import { type MailProcess, startMail } from './mail-process.js'
import type { Death } from './verdict.js'

/** What one process of the fleet is for. The owner is the one in which the embedded database lives. */
export interface Role {
  readonly name: string
  readonly works: boolean
  readonly listens: boolean
  readonly owns?: boolean
  /** How often it is chosen, against the others. */
  readonly weight: number
}

export interface Fleet {
  readonly deaths: readonly Death[]
  /** Where emails are accepted now. */
  url(): string | null
  /** One at random, when it is at work. */
  choose(random: SeededRandom): Promise<Role>
  /**
   * Kills it and starts it again: one that sends at that point of one of its conversations, one that accepts while it
   * owes somebody an answer.
   */
  strike(role: Role, aim: Aim): Promise<void>
  ready(): Promise<void>
  /** SIGTERM to all; resolves with what they ended with. */
  stop(): Promise<(number | NodeJS.Signals)[]>
  kill(): Promise<void>
  log(): string
}

export interface Aim {
  readonly at: Point | null
  readonly asking: () => number
  readonly random: SeededRandom
}

export interface FleetOptions {
  readonly built: BuiltPackage
  readonly judge: Judge
  readonly roles: readonly Role[]
  readonly settings: Omit<MailSettings, 'smtpPort' | 'works' | 'listens' | 'attach'>
}

/** A victim that never comes to the chosen point is killed where it is. */
const POINT_MS = 1_000

export async function startFleet({ built, judge, roles, settings }: FleetOptions): Promise<Fleet> {
  const members = new Map<Role, MailProcess>()
  const deaths: Death[] = []
  let lives = 0

  const member = (role: Role) => members.get(role)!
  const owner = roles.find(({ owns }) => owns)

  const start = async (role: Role) => {
    // Attaching to an owner that is not there would make it the owner.
    if (owner && role !== owner) await member(owner).ready
    const door = await judge.openDoor(`${role.name} ${++lives}`)
    const { works, listens } = role
    members.set(role, startMail(built, door, { ...settings, works, listens, attach: role !== owner }))
  }
  const ready = async () => {
    for (const role of roles) await member(role).ready
  }

  const choose = (random: SeededRandom): Role => {
    let at = random.next() * roles.reduce((sum, { weight }) => sum + weight, 0)
    return roles.find(({ weight }) => (at -= weight) < 0) ?? roles[0]!
  }

  /** Both resolve with the judge's moment right before the kill. */
  const killAt = async (victim: MailProcess, point: Point): Promise<number> => {
    let timer: NodeJS.Timeout | undefined
    const at = await new Promise<number>((resolve) => {
      timer = setTimeout(() => resolve(judge.moment()), POINT_MS)
      victim.door.onPoint = (reached) => {
        if (reached !== point) return
        resolve(judge.moment())
        victim.signal('SIGKILL')
      }
    })
    clearTimeout(timer)
    await victim.kill()
    return at
  }

  const killWhile = async (victim: MailProcess, asking: () => number, random: SeededRandom): Promise<number> => {
    for (const deadline = performance.now() + POINT_MS; asking() === 0 && performance.now() < deadline;) await sleep(1)
    await sleep(random.between(0, 10))
    const at = judge.moment()
    await victim.kill()
    return at
  }

  for (const role of roles) await start(role)
  await ready()

  return {
    deaths,
    ready,
    url: () => [...members.values()].find(({ url }) => url)?.url ?? null,
    async choose(random) {
      const role = choose(random)
      // One that is still starting would attach to nobody when its owner dies, and own the database itself.
      if (role === owner) await ready()
      await member(role).ready
      const dead = roles.find((role) => !member(role).isRunning)
      if (dead) throw new Error(`${dead.name} ended by itself.\n${member(dead).log()}`)
      return role
    },
    async strike(role, { at, asking, random }) {
      const victim = member(role)
      const died =
        at === null || !role.works
          ? await killWhile(victim, role.listens ? asking : () => 1, random)
          : await killAt(victim, at)
      const most = (role.works ? settings.concurrency : 0) + (role.listens ? CALLERS : 0)
      deaths.push({ door: victim.door.name, at: died, most })
      await start(role)
    },
    async stop() {
      const ends: (number | NodeJS.Signals)[] = []
      // The owner last: the others need its database to say goodbye.
      for (const role of roles.toSorted((a, b) => Number(a === owner) - Number(b === owner)))
        ends.push(await member(role).stop())
      return ends
    },
    async kill() {
      await Promise.all([...members.values()].map((process) => process.kill()))
    },
    log: () => [...members.values()].map((process) => `--- ${process.door.name}\n${process.log()}`).join('\n'),
  }
}
