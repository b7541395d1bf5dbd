import type { Command } from 'commander'
import { createLog } from '../../log.js'
import { type Finding, examine } from '../../operations/examine.js'
import { examineBroker } from '../doctor/examine-broker.js'
import { examineSecret } from '../doctor/examine-secret.js'
import { examineSenderDns } from '../doctor/examine-sender-dns.js'
import { examineSenders } from '../doctor/examine-senders.js'
import { print, printJson } from '../print.js'
import { addSettings, configFrom } from '../settings.js'

const MARKS = { ok: 'ok  ', warning: 'warn', problem: 'FAIL' } as const

export function addDoctor(program: Command): void {
  addSettings(
    program
      .command('doctor')
      .description('check database, clock, schema, backlog, broker, secret, provider and sender DNS; say what to do')
      .option('--json', 'print the findings as JSON'),
  ).action(async (flags: Record<string, unknown> & { json?: true }) => {
    const config = configFrom(flags)
    const log = createLog(config.logLevel === 'debug' ? 'debug' : 'error')
    // The internet is asked while the database is.
    const [dns, broker] = [examineSenderDns(config.mailFrom.address), examineBroker(config, log)]
    const findings = [
      ...(await examine({ ...config, log, further: (db) => examineSenders(db, config, log) })),
      await broker,
      examineSecret(config),
      ...(await dns),
    ]
    if (flags.json) printJson(findings)
    else print(findings.map(line).join(''))
    if (findings.some(({ verdict }) => verdict === 'problem')) process.exitCode = 1
  })
}

const line = ({ verdict, subject, text }: Finding) => `${MARKS[verdict]}  ${subject.padEnd(10)}  ${text}\n`
