import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'vitest'

/** What `start` printed, used as a person would: pasted into a shell. */
export const urlOf = (stdout: string): string => expectMatch(stdout, /^ {2}API {8}(http:\S+)\/api$/m)

export const keyOf = (stdout: string): string => expectMatch(stdout, /^ {2}API key {4}(pr_\S+)/m)

function expectMatch(text: string, pattern: RegExp): string {
  const found = pattern.exec(text)?.[1]
  expect(found, `${pattern.source} in:\n${text}`).toBeDefined()
  return found!
}

export interface CurlAnswer {
  readonly status: number
  readonly body: unknown
}

/** Runs the printed line that names the path, as it stands. */
export async function runPrintedCurl(
  stdout: string,
  path: string,
  env: Record<string, string> = {},
): Promise<CurlAnswer> {
  const line = stdout.split('\n').find((each) => each.startsWith('  curl ') && each.includes(`${path} `))
  expect(line, `a curl line for ${path} in:\n${stdout}`).toBeDefined()
  const result = await promisify(execFile)('sh', ['-c', `${line!.trim()} -w '\\n%{http_code}'`], {
    env: { PATH: process.env['PATH'], ...env },
  })
  const [status = '', ...body] = result.stdout.split('\n').toReversed()
  return { status: Number(status), body: JSON.parse(body.toReversed().join('\n')) }
}
