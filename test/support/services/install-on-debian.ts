import { execFile } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { findBinary } from './find-binary.js'

const servicePolicy = '/usr/sbin/policy-rc.d'

/**
 * Installs a package with apt when that is ours to do: on Debian and its descendants, as root. Null when done,
 * otherwise what stood in the way.
 *
 * A freshly installed server package starts its service, which in a container without systemd fails the installation
 * and elsewhere would leave a server running that nobody asked for. Debian's way to say "install, do not start" is a
 * policy script that answers 101; it is taken away again afterwards.
 */
export async function installOnDebian(packageName: string): Promise<string | null> {
  const aptGet = findBinary('apt-get')
  if (!aptGet || !existsSync('/etc/debian_version')) return 'only on Debian is it installed by itself'
  if (process.getuid?.() !== 0) return 'it is installed by itself only for root'
  process.stderr.write(`Installing ${packageName} for the tests…\n`)
  const ownPolicy = !existsSync(servicePolicy)
  if (ownPolicy) writeFileSync(servicePolicy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  const options = {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: 300_000,
    maxBuffer: 64 * 1024 * 1024,
  }
  // Another apt may be at work on a fresh machine; waiting for its lock beats failing on it.
  const patience = ['-o', 'DPkg::Lock::Timeout=120']
  try {
    await promisify(execFile)(aptGet, [...patience, 'update'], options)
    // --no-upgrade: a server that is installed already, perhaps running, is not ours to replace.
    const install = ['install', '-y', '--no-install-recommends', '--no-upgrade', packageName]
    await promisify(execFile)(aptGet, [...patience, ...install], options)
    return null
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    const lastLine = (stderr || message).trim().split('\n').at(-1)
    return `apt-get failed with "${lastLine}"`
  } finally {
    if (ownPolicy) rmSync(servicePolicy, { force: true })
  }
}
