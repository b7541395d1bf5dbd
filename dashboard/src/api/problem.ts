/** RFC 9457, as the API answers it. */
export interface Problem {
  readonly status: number
  readonly code: string
  readonly title: string
  readonly detail: string
  readonly request_id?: string
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[]
}

export class ProblemError extends Error {
  readonly problem: Problem
  constructor(problem: Problem) {
    super(problem.detail)
    this.problem = problem
  }
  /** What was said about one field, such as `/pace/timezone`. */
  about(pointer: string): string | undefined {
    return this.problem.errors?.find((error) => error.pointer === pointer)?.detail
  }
}

export const problemOf = (error: unknown): Problem =>
  error instanceof ProblemError
    ? error.problem
    : { status: 0, code: 'dashboard_fault', title: 'The dashboard itself failed', detail: String(error) }
