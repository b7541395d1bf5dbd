import type { Command } from 'commander'
import { type Finding, examine } from '../../operations/examine.js'
import { createLog } from '../../log.js'
import { addSettings, configFrom } from '../settings.js'

const MARKS = { ok: 'ok  ', warning: 'warn', problem: 'FAIL' } as const

export function addDoctor(program: Command): void {
  addSettings(
    program
      .command('doctor')
      .description('check database, durability, schema, clock and backlog; say what to do')
      .option('--json', 'print the findings as JSON'),
  ).action(async (flags: Record<string, unknown> & { json?: true }) => {
    const config = configFrom(flags)
    const findings = await examine(config, createLog(config.logLevel === 'debug' ? 'debug' : 'error'))
    process.stdout.write(flags.json ? `${JSON.stringify(findings)}\n` : findings.map(line).join(''))
    if (findings.some(({ verdict }) => verdict === 'problem')) process.exitCode = 1
  })
}

const line = ({ verdict, subject, text }: Finding) => `${MARKS[verdict]}  ${subject.padEnd(10)}  ${text}\n`
