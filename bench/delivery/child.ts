import { startCpuProfile } from './cpu-profile.js'
import type { Asked, Role, Told } from './role.js'
import { type RoleName, ROLES } from './roles.js'

/** The process of one role. It ends with its answer, or when the one who started it is gone. */
const tell = (told: Told, then?: () => void) => process.send?.(told, undefined, undefined, then)
// Nothing is waited for after the answer: what somebody forgot to close must not hold up the others.
const end = (told: Told) => tell(told, () => process.exit())

let stop: () => void = () => undefined
const stopped = new Promise<void>((resolve) => (stop = resolve))

async function begin(name: RoleName, task: unknown, profileFile: string | null): Promise<void> {
  const role = (await ROLES[name]()) as Role<unknown, unknown, unknown>
  const value = await role(task, {
    ready: (ready) => tell({ kind: 'ready', value: ready }),
    stopped,
    watch: async () => (profileFile === null ? async () => undefined : startCpuProfile(profileFile)),
  })
  end({ kind: 'result', value })
}

process.on('message', (message) => {
  const asked = message as Asked
  if (asked.kind === 'stop') return stop()
  begin(asked.name as RoleName, asked.task, asked.profileFile).catch((error: unknown) =>
    end({ kind: 'failure', failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  )
})
process.once('disconnect', () => process.exit(1))
