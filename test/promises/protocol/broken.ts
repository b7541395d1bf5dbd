/** Protocols one careless line away from the correct one, each with the promise it breaks. */
import type { Options } from './explore.js'
import type { Property } from './properties.js'
import { CORRECT } from './protocol.js'

interface Broken extends Options {
  name: string
  breaks: Property
}

export const BROKEN: readonly Broken[] = [
  {
    name: 'arm and settle do not check the token',
    breaks: 'never twice',
    protocol: { armChecksToken: false, settleChecksToken: false },
  },
  { name: 'arm does not check the token', breaks: 'never twice', protocol: { armChecksToken: false } },
  { name: 'settle does not check the token', breaks: 'never twice', protocol: { settleChecksToken: false } },
  { name: 'release does not check the token', breaks: 'never twice', protocol: { releaseChecksToken: false } },
  { name: 'arm comes after the hand-over', breaks: 'never twice', protocol: { armComesFirst: false } },
  { name: 'rescue turns armed into pending', breaks: 'never twice', protocol: { rescueOfArmed: 'pending' } },
  {
    name: 'rescue turns armed into pending',
    breaks: 'armed never goes back by itself',
    protocol: { rescueOfArmed: 'pending' },
  },
  {
    name: 'claim reads a candidate, then writes without looking again',
    breaks: 'never twice',
    protocol: { claimIsAtomic: false },
  },
  {
    name: 'settle does not check the state, and tokens outlive leases',
    breaks: 'no arm after a cancel',
    protocol: { settleChecksState: false, tokenEndsWithLease: false },
  },
  { name: 'late evidence does not check the token', breaks: 'never twice', protocol: { evidenceChecksToken: false } },
  { name: 'silence after the body counts as a deferral', breaks: 'never twice', protocol: { silenceMeansNo: true } },
  { name: 'arm does not check the lane', breaks: 'no arm after a cancel', protocol: { armChecksLane: false } },
  { name: 'arm writes done', breaks: 'the row tells the truth', protocol: { armWrites: 'done' } },
  {
    name: 'cancel overwrites armed',
    breaks: 'the row tells the truth',
    protocol: { cancelStopsAt: ['pending', 'leased', 'armed'] },
  },
  {
    name: 'a database effect commits before its completion',
    breaks: 'a database effect happens once',
    kind: 'database',
    protocol: { completeIsAtomic: false },
  },
  {
    name: 'sending again forgets that the first hand-over may have been taken',
    breaks: 'not sent means not taken',
    protocol: { resendRemembersDoubt: false },
  },
  ...(['settle', 'evidence', 'cancel', 'expire'] as const).map((mover): Broken => ({
    name: `in doubt, ${mover} ends it as if nothing had been sent`,
    breaks: 'not sent means not taken',
    protocol: { doubtIsAskedBy: CORRECT.doubtIsAskedBy.filter((asking) => asking !== mover) },
  })),
  {
    name: 'what ends in doubt stays under its last holder’s token',
    breaks: 'no arm after a cancel',
    protocol: { doubtTakesTheToken: false },
  },
  { name: 'nobody rescues armed', breaks: 'never stuck', workers: 2, crashes: 1, protocol: { rescueOfArmed: 'never' } },
  {
    name: 'nobody sweeps a canceled lane',
    breaks: 'never stuck',
    workers: 2,
    crashes: 1,
    protocol: { canceledLaneIsSwept: false },
  },
  {
    name: 'claim reads a candidate, then writes without looking again',
    breaks: 'every move is legal',
    protocol: { claimIsAtomic: false },
  },
]

/** Conditions the search proves redundant given the others: worth keeping for other reasons, not for these promises. */
export const HARMLESS: readonly (Options & { name: string })[] = [
  { name: 'settle does not check the state, but tokens end with leases', protocol: { settleChecksState: false } },
  { name: 'tokens outlive leases, but settle checks the state', protocol: { tokenEndsWithLease: false } },
  { name: 'arm does not check that the lease has not expired', protocol: { armChecksExpiry: false } },
  { name: 'claim does not check the lane', protocol: { claimChecksLane: false } },
  {
    name: 'completion does not check that the lease has not expired',
    kind: 'database',
    protocol: { completeChecksExpiry: false },
  },
  { name: 'completion does not check the token', kind: 'database', protocol: { completeChecksToken: false } },
]
