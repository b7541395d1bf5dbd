import { type Logger, pino } from 'pino'

/** What the engine says. JSON lines for machines, short lines for people; never bodies, keys or full addresses. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'>

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Logs go to standard error: standard output belongs to the data a command was asked for. */
export function createLog(level: LogLevel, stream: NodeJS.WriteStream = process.stderr): Log {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: toLogged },
  }
  return stream.isTTY ? pino(options, { write: (line: string) => stream.write(readable(line)) }) : pino(options, stream)
}

/** Named one by one: a database quotes in an error's `detail` what it refused, which may be anybody's address. */
function toLogged(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name: type, message, stack, code, constraint } = error as Error & { code?: unknown; constraint?: unknown }
  return {
    type,
    message,
    ...(code !== undefined && { code }),
    ...(constraint !== undefined && { constraint }),
    stack,
    ...(error.cause instanceof Error && { cause: toLogged(error.cause) }),
  }
}

function readable(line: string): string {
  const { time, level, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>
  const fields = Object.entries(rest).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const error = (err as { message?: string } | undefined)?.message
  if (error) fields.push(`error=${JSON.stringify(error)}`)
  const head = `${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${String(msg)}`
  return fields.length > 0 ? `${head}  ${fields.join(' ')}\n` : `${head}\n`
}
