const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000 } as const
/** Nobody who asks for more than a day means this email; the retry policy knows better. */
const LONGEST_MS = 24 * UNIT_MS.h

/** "try again in 5 minutes", "retry after 120 seconds", "greylisted for an hour". */
const SPOKEN =
  /(?:try|again|retry|wait|back|grey ?list\w*|gray ?list\w*|defer\w*|block\w*|limited)\b[^.;]{0,40}?\b(?:in|after|for|at least|wait|within)[ :=]+(?:about |another )?(\d{1,6}|an?|one)[ -]?(s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?)\b/i
/** Retry-After and its kin, where a bare number means seconds: "retry after 120", "retry-after: 60". */
const BARE = /\bretry[- ]after[ :=]+(\d{1,6})\b(?! ?[a-z])/i
/** milter-greylist: "please come back in 00:14:59". */
const CLOCK = /\b(?:in|after|for) (\d{1,2}):(\d{2}):(\d{2})\b/i

/** How long the server's words ask to wait, if they do. */
export function findRetryHintMs(reply: string): number | null {
  const clock = CLOCK.exec(reply)
  if (clock) return within(Number(clock[1]) * UNIT_MS.h + Number(clock[2]) * UNIT_MS.m + Number(clock[3]) * UNIT_MS.s)
  const spoken = SPOKEN.exec(reply)
  if (spoken) {
    const unit = spoken[2]!.charAt(0).toLowerCase() as keyof typeof UNIT_MS
    const count = /^\d/.test(spoken[1]!) ? Number(spoken[1]) : 1
    return within(count * UNIT_MS[unit])
  }
  const bare = BARE.exec(reply)
  return bare ? within(Number(bare[1]) * UNIT_MS.s) : null
}

function within(ms: number): number | null {
  return ms > 0 && ms <= LONGEST_MS ? ms : null
}
