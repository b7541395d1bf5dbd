import { sayProblems } from '../domain/say-problem.js'
import { z } from '@hono/zod-openapi'
import { isDatabaseUnavailable } from '../db/client.js'
import { type Problem, PostriderError } from '../errors.js'
import { toJsonPath, toPointer } from './pointer.js'
import { type ProblemCode, type RequestCode, statusOfCode, titleOfCode } from './problem-codes.js'

/** Something is wrong with a request as such; what an operation refuses is a PostriderError. */
export class RequestError extends Error {
  override readonly name = 'RequestError'

  readonly code: RequestCode

  readonly problems: readonly InputProblem[]

  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: RequestCode,
    message: string,
    options: { problems?: readonly InputProblem[]; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message)
    this.code = code
    this.problems = options.problems ?? []
    this.headers = options.headers ?? {}
  }
}

export interface InputProblem extends Problem {
  readonly in: 'body' | 'query' | 'header'
}

/** What an operation says of its input, in the names of the JSON it was made from. */
export const fromOperation = (problems: readonly Problem[]): InputProblem[] =>
  problems.map(({ path, detail }) => ({ in: 'body', path: toJsonPath(path), detail }))

/** All of them in one sentence, or the first few; null if there are none. */
export function describeProblems(problems: readonly InputProblem[]): string | null {
  if (problems.length === 0) return null
  return `${sayProblems(problems)}.`
}

/** A request that is wrong in these places. */
export const refusal = (problems: readonly InputProblem[]): RequestError =>
  new RequestError('request_invalid', describeProblems(problems) ?? 'The request is not valid.', { problems })

/** RFC 9457. */
export const problemSchema = z
  .strictObject({
    type: z.string().openapi({ description: 'Where this kind of problem is described.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().openapi({ description: 'What is wrong this time and what to do about it.' }),
    code: z.string().openapi({ description: 'Stable; made for programs.', example: 'email_invalid' }),
    request_id: z.string(),
    errors: z
      .array(
        z.strictObject({
          in: z.enum(['body', 'query', 'header']),
          pointer: z.string().openapi({ example: '/attachments/0/content_type' }),
          detail: z.string(),
        }),
      )
      .optional(),
    name: z.string().optional().openapi({ description: 'The code again; for the Resend SDK only.' }),
    message: z.string().optional().openapi({ description: 'The detail again; for the Resend SDK only.' }),
    statusCode: z.int().optional().openapi({ description: 'The status again; for the Resend SDK only.' }),
  })
  .openapi('Problem')

/** Long enough for a database to come back from a restart, short enough not to be noticed. */
const RETRY_AFTER_SECONDS = '5'

interface Told {
  readonly code: ProblemCode
  readonly detail: string
  readonly problems: readonly InputProblem[]
  readonly headers: Readonly<Record<string, string>>
}

/** What a client is told of an error. A bug, or a setting that is wrong, is nothing a client can do anything about. */
function tell(error: unknown): Told {
  if (error instanceof RequestError) {
    const { code, message, problems, headers } = error
    return { code, detail: message, problems, headers }
  }
  if (isDatabaseUnavailable(error))
    return {
      code: 'database_unavailable',
      detail: 'The database cannot be reached right now. Nothing was accepted; ask again in a moment.',
      problems: [],
      headers: { 'Retry-After': RETRY_AFTER_SECONDS },
    }
  if (error instanceof PostriderError && statusOfCode(error.code) < 500) {
    const problems = fromOperation(error.problems)
    const headers: Record<string, string> = error.code === 'idempotency_in_flight' ? { 'Retry-After': '1' } : {}
    return { code: error.code, detail: describeProblems(problems) ?? error.message, problems, headers }
  }
  return {
    code: 'internal_error',
    detail: 'Something went wrong on our side. The request id finds it in the logs.',
    problems: [],
    headers: {},
  }
}

/** The code a client is told. */
export const codeOf = (error: unknown): ProblemCode => tell(error).code

interface ProblemRequest {
  readonly requestId: string
  readonly userAgent: string | undefined
}

export function problemResponse(error: unknown, { requestId, userAgent }: ProblemRequest): Response {
  const { code, detail, problems, headers } = tell(error)
  const status = statusOfCode(code)
  const body: z.input<typeof problemSchema> = {
    type: `/api/docs#${code}`,
    title: titleOfCode(code),
    status,
    detail,
    code,
    request_id: requestId,
    ...(problems.length > 0 && {
      errors: problems.map((problem) => ({
        in: problem.in,
        pointer: toPointer(problem.path),
        detail: problem.detail,
      })),
    }),
    // That SDK hands the body to its caller as its own kind of error, who then looks for these names.
    ...(userAgent?.startsWith('resend-') && { name: code, message: detail, statusCode: status }),
  }
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...headers, 'Content-Type': 'application/problem+json' },
  })
}
