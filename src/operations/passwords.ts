import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

/**
 * Passwords are kept as scrypt of themselves and a salt of their own, with what it cost, so that a later version can ask
 * for more: `scrypt$N$r$p$salt$hash`.
 */
const COST = { N: 2 ** 15, r: 8, p: 3 }
const SALT_BYTES = 16
const HASH_BYTES = 32

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const hash = await derive(password, salt, COST)
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/** Takes as long for a user who has no password, or for nobody at all: `stored` is null then, and the answer is no. */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const known = stored === null ? null : read(stored)
  const { cost, salt, hash } = known ?? NOBODY
  const derived = await derive(password, salt, cost)
  return timingSafeEqual(derived, hash) && known !== null
}

const NOBODY = { cost: COST, salt: Buffer.alloc(SALT_BYTES), hash: Buffer.alloc(HASH_BYTES) }

function read(stored: string): typeof NOBODY | null {
  const [, N, r, p, salt, hash] = /^scrypt\$(\d+)\$(\d+)\$(\d+)\$([\w-]+)\$([\w-]{43})$/.exec(stored) ?? []
  if (hash === undefined) return null
  return {
    cost: { N: Number(N), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt!, 'base64url'),
    hash: Buffer.from(hash, 'base64url'),
  }
}

/**
 * One at a time: each takes 32 MB and a thread of the pool that files and name lookups wait for as well. Many who log in
 * at once wait for each other, and not the emails for them.
 */
let last: Promise<unknown> = Promise.resolve()

function derive(password: string, salt: Buffer, cost: typeof COST): Promise<Buffer> {
  const next = last.then(
    () =>
      new Promise<Buffer>((resolve, reject) => {
        // The same letters typed on another machine may come as other code points.
        const text = normalize(password)
        const maxmem = 256 * cost.N * cost.r
        scrypt(text, salt, HASH_BYTES, { ...cost, maxmem }, (error, key) => (error ? reject(error) : resolve(key)))
      }),
  )
  last = next.catch(() => undefined)
  return next
}

export const normalize = (password: string): string => password.normalize('NFKC')
