import { setTimeout as sleep } from 'node:timers/promises'
import { createTransport } from 'nodemailer'
import { emailTo, SENDER } from './email.js'
import { poolOf } from './nodemailer.js'
import type { Place } from './open-postrider.js'
import type { Stage } from './role.js'
import type { Sent, Work } from './work-role.js'

/** Bare nodemailer while emails fall due steadily: no outbox and no database, so what is left is the machine. */
export interface SendSteadilyTask {
  readonly smtp: NonNullable<Place['smtp']>
  readonly emails: number
  readonly perSecond: number
}

export async function sendSteadily(
  { smtp, emails, perSecond }: SendSteadilyTask,
  { ready, watch }: Stage<null>,
): Promise<Omit<Work, 'samples'>> {
  const transport = createTransport(poolOf(smtp))
  const sent: Sent[] = []
  const send = async (nth: number, due: number) => {
    await transport.sendMail({ from: SENDER, ...emailTo(nth) })
    sent[nth] = { dueAt: performance.timeOrigin + due, tookMs: performance.now() - due }
  }
  const unwatch = await watch()
  ready(null)
  const from = performance.now()
  const sending: Promise<void>[] = []
  for (let nth = 0; nth < emails; nth++) {
    const due = from + (nth * 1_000) / perSecond
    // A timer comes a millisecond late at the least: what fell due meanwhile goes out with it.
    if (due > performance.now()) await sleep(due - performance.now())
    sending.push(send(nth, due))
  }
  await Promise.all(sending)
  await unwatch()
  transport.close()
  return { sent }
}
