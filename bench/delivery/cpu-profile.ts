import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'

/**
 * Of this thread and from this moment on. Not `--cpu-prof`, which counts starting up and compiling too, and has the
 * threads of a process overwrite each other's file.
 */
export async function startCpuProfile(file: string): Promise<() => Promise<void>> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLING_MICROSECONDS })
  await session.post('Profiler.start')
  return async () => {
    const { profile } = await session.post('Profiler.stop')
    session.disconnect()
    writeFileSync(file, JSON.stringify(profile))
  }
}

const SAMPLING_MICROSECONDS = 500
