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
  /** One of them at random, when it is at work. */
  choose(random: SeededRandom, isFit?: (role: Role) => boolean): Promise<Role>
  /** Kills it and starts it again. True when it was where the aim is; else it was killed wherever it was. */
  strike(role: Role, aim: Aim): Promise<boolean>
  ready(): Promise<void>
  /** SIGTERM to all; resolves with what they ended with. */
  stop(): Promise<(number | NodeJS.Signals)[]>
  kill(): Promise<void>
  log(): string
}

export interface Aim {
  /** The point of one of its conversations with the judge; null is anywhere. */
  readonly at: Point | null
  /** How many wait for its answer: given, it is killed while it owes somebody one. */
  readonly asking?: () => number
  readonly random: SeededRandom
  /** How long it may take to come there. */
  readonly withinMs?: number
}

interface Hit {
  readonly at: number
  readonly isHit: boolean
}

export interface FleetOptions {
  readonly built: BuiltPackage
  readonly judge: Judge
  readonly roles: readonly Role[]
  readonly settings: Omit<MailSettings, 'smtpPort' | 'works' | 'listens' | 'attach'>
}

const WITHIN_MS = 1_000
/** In which an answer that was given before its process was stopped has arrived. */
const ANSWER_MS = 20

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

  const choose = (random: SeededRandom, among: readonly Role[]): Role => {
    let at = random.next() * among.reduce((sum, { weight }) => sum + weight, 0)
    return among.find(({ weight }) => (at -= weight) < 0) ?? among[0]!
  }

  /** Both resolve with the judge's moment right before the kill, and whether it came where it should. */
  const killAt = async (victim: MailProcess, point: Point, withinMs: number): Promise<Hit> => {
    let timer: NodeJS.Timeout | undefined
    const hit = await new Promise<Hit>((resolve) => {
      timer = setTimeout(() => resolve({ at: judge.moment(), isHit: false }), withinMs)
      victim.door.onPoint = (reached) => {
        if (reached !== point) return
        resolve({ at: judge.moment(), isHit: true })
        victim.signal('SIGKILL')
      }
    })
    clearTimeout(timer)
    await victim.kill()
    return hit
  }

  const killWhile = async (victim: MailProcess, { asking, random, withinMs = WITHIN_MS }: Aim): Promise<Hit> => {
    const deadline = performance.now() + withinMs
    while (asking?.() === 0 && performance.now() < deadline) await sleep(1)
    await sleep(random.between(0, 10))
    let isHit = asking === undefined
    // Stopped, it stays where it is; who still waits when all that it has said is here waits in vain.
    if (asking) victim.signal('SIGSTOP')
    while (asking && !isHit && performance.now() < deadline) {
      await sleep(asking() > 0 ? ANSWER_MS : 1)
      isHit = asking() > 0
    }
    const at = judge.moment()
    await victim.kill()
    return { at, isHit }
  }

  for (const role of roles) await start(role)
  await ready()

  return {
    deaths,
    ready,
    url: () => [...members.values()].find(({ url }) => url)?.url ?? null,
    async choose(random, isFit = () => true) {
      const role = choose(random, roles.filter(isFit))
      // One that is still starting would attach to nobody when its owner dies, and own the database itself.
      if (role === owner) await ready()
      await member(role).ready
      const dead = roles.find((role) => !member(role).isRunning)
      if (dead) throw new Error(`${dead.name} ended by itself.\n${member(dead).log()}`)
      return role
    },
    async strike(role, aim) {
      const victim = member(role)
      const hit =
        aim.at === null ? await killWhile(victim, aim) : await killAt(victim, aim.at, aim.withinMs ?? WITHIN_MS)
      const most = (role.works ? settings.concurrency : 0) + (role.listens ? CALLERS : 0)
      deaths.push({ door: victim.door.name, at: hit.at, most })
      await start(role)
      return hit.isHit
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
