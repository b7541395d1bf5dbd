import type { Command } from 'commander'
import type { EmailFilter } from '../db/email-filter.js'
import { foldAddress } from '../domain/address.js'
import { EMAIL_STATUSES } from '../domain/email-status.js'
import { readChoice } from './choices.js'

/** Which emails a command is about. */
export interface FilterFlags {
  readonly status?: string
  readonly to?: string
  readonly q?: string
}

export const addFilter = (command: Command): Command =>
  command
    .option('--status <status>', `those that are ${EMAIL_STATUSES.join(', ')}`)
    .option('--to <address>', 'those to this address')
    .option('--q <text>', 'those with this in the subject or an address')

export const readFilter = ({ status, to, q }: FilterFlags): EmailFilter => ({
  ...(status !== undefined && { status: readChoice('--status', status, EMAIL_STATUSES) }),
  ...(to !== undefined && { to: foldAddress(to) }),
  ...(q !== undefined && { q }),
})
