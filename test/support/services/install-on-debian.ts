import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'

const release = '/etc/debian_version'

/**
 * A freshly installed server package starts its service, which in a container without systemd fails the installation
 * and elsewhere would leave a server running that nobody asked for. Debian's way to say "install, do not start" is a
 * policy script that answers 101; unless there is one already, ours is there for as long as apt is at work.
 *
 * --no-upgrade: a server that is installed already, perhaps running, is not ours to replace.
 */
const script = `
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  trap 'rm -f $policy' EXIT
  trap 'exit 1' HUP INT TERM
  printf '#!/bin/sh\\nexit 101\\n' > $policy
  chmod 755 $policy
fi
apt-get -o DPkg::Lock::Timeout=120 update
apt-get -o DPkg::Lock::Timeout=120 install -y --no-install-recommends --no-upgrade "$1"
`

/**
 * Installs a package with apt when that is ours to do: on Debian and its descendants, as root. Null when done,
 * otherwise what stood in the way.
 */
export async function installOnDebian(debianPackage: string): Promise<string | null> {
  if (!existsSync(release)) return 'only on Debian is it installed by itself'
  if (process.getuid?.() !== 0) return 'it is installed by itself only for root'
  process.stderr.write(`Installing ${debianPackage} for the tests…\n`)
  try {
    // Two test files may miss two packages at once, and `apt-get update` does not wait for another's lock. Any file that
    // is always there serves to take turns on.
    await promisify(execFile)('flock', [release, 'sh', '-ec', script, 'install', debianPackage], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      timeout: 600_000,
      maxBuffer: 64 * 1024 * 1024,
    })
    return null
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    return `apt-get failed with "${(stderr || message).trim().split('\n').at(-1)}"`
  }
}
