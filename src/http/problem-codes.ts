import { ERROR_CODES, type ErrorCode } from '../errors.js'

/** What can go wrong before an operation is reached. */
const REQUEST_CODES = {
  request_malformed: { status: 400, title: 'The request is not HTTP as we know it.' },
  json_malformed: { status: 400, title: 'The body is not JSON.' },
  unauthorized: { status: 401, title: 'A valid API key or a login is needed.' },
  login_failed: { status: 401, title: 'The name or the password is wrong.' },
  forbidden: { status: 403, title: 'The API key, or who is logged in, may not do this.' },
  cross_site_request: { status: 403, title: 'The request did not come from the dashboard.' },
  not_found: { status: 404, title: 'There is nothing here.' },
  method_not_allowed: { status: 405, title: 'This resource does not know the method.' },
  body_too_large: { status: 413, title: 'The body is too large.' },
  content_type_unsupported: { status: 415, title: 'The body is not of the content type that is taken here.' },
  request_invalid: { status: 422, title: 'The request is not valid.' },
  rate_limited: { status: 429, title: 'Too many requests.' },
  internal_error: { status: 500, title: 'Something went wrong on our side.' },
  not_ready: { status: 503, title: 'This process does not take requests now.' },
} as const

export type RequestCode = keyof typeof REQUEST_CODES
export type ProblemCode = ErrorCode | RequestCode

/** The only place that knows what an operation's mistake is in HTTP. */
const STATUS_OF: Readonly<Record<ErrorCode, number>> = {
  setting_invalid: 500,
  setting_unknown: 500,
  database_unavailable: 503,
  database_unsupported: 500,
  directory_in_use: 500,
  schema_outdated: 503,
  schema_newer: 503,
  migration_edited: 500,
  transaction_invalid: 500,
  action_invalid: 422,
  action_not_found: 404,
  action_conflict: 409,
  lane_invalid: 422,
  lane_not_found: 404,
  email_invalid: 422,
  email_not_found: 404,
  email_conflict: 409,
  idempotency_mismatch: 422,
  idempotency_in_flight: 409,
  sender_invalid: 422,
  sender_not_found: 404,
  sender_conflict: 409,
  key_invalid: 422,
  key_not_found: 404,
  user_invalid: 422,
  user_not_found: 404,
  user_conflict: 409,
  link_invalid: 410,
  password_invalid: 422,
  event_invalid: 422,
  contact_invalid: 422,
  contact_not_found: 404,
  contact_conflict: 409,
  list_invalid: 422,
  list_not_found: 404,
  list_conflict: 409,
  import_invalid: 422,
  import_not_found: 404,
  template_invalid: 422,
  template_not_found: 404,
  template_conflict: 409,
  sequence_invalid: 422,
  sequence_not_found: 404,
  sequence_conflict: 409,
  campaign_invalid: 422,
  campaign_not_found: 404,
  enrollment_not_found: 404,
  enrollment_conflict: 409,
  campaign_conflict: 409,
  campaign_not_ready: 422,
  lease_lost: 500,
}

const isRequestCode = (code: ProblemCode): code is RequestCode => code in REQUEST_CODES

export const statusOfCode = (code: ProblemCode): number =>
  isRequestCode(code) ? REQUEST_CODES[code].status : STATUS_OF[code]

export const titleOfCode = (code: ProblemCode): string =>
  isRequestCode(code) ? REQUEST_CODES[code].title : ERROR_CODES[code]

/** All that a client can meet, for the documentation. */
export const PROBLEM_CODES: readonly ProblemCode[] = [
  ...(Object.keys(REQUEST_CODES) as RequestCode[]),
  ...(Object.keys(STATUS_OF) as ErrorCode[]).filter((code) => STATUS_OF[code] !== 500),
]
