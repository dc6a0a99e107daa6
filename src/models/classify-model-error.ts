import { describeValue } from '../base/describe-value.ts'
import { readField } from '../base/read-field.ts'
import { asText } from './read-event.ts'

/** The kind of an error of a model's service. */
export type ModelErrorKind =
  | 'overloaded'
  | 'rate_limited'
  | 'connection'
  | 'server'
  | 'timeout'
  | 'aborted'
  | 'invalid_request'
  | 'auth'
  | 'unknown'

/** Labels that are more specific than the status: they occur in mid-stream, or with an unrelated status. */
const clearLabels: Readonly<Record<string, ModelErrorKind>> = {
  overloaded_error: 'overloaded',
  server_is_overloaded: 'overloaded',
  slow_down: 'rate_limited',
  rate_limit_error: 'rate_limited',
  rate_limit_exceeded: 'rate_limited',
  // a retry does not help if the account is out of credit
  insufficient_quota: 'auth',
  quota_exceeded: 'auth',
  billing_hard_limit_reached: 'auth',
  billing_error: 'auth',
  authentication_error: 'auth',
  permission_error: 'auth',
  invalid_api_key: 'auth',
  context_length_exceeded: 'invalid_request',
  timeout_error: 'timeout',
  aborted: 'aborted',
}

/** Labels that services use for many things; the status is more specific. */
const vagueLabels: Readonly<Record<string, ModelErrorKind>> = {
  api_error: 'server',
  server_error: 'server',
  internal_server_error: 'server',
  stream_error: 'server',
  invalid_request_error: 'invalid_request',
  not_found_error: 'invalid_request',
  request_too_large: 'invalid_request',
  invalid_prompt: 'invalid_request',
}

const statuses: Readonly<Record<number, ModelErrorKind>> = {
  401: 'auth',
  402: 'auth',
  403: 'auth',
  408: 'timeout',
  // a lock conflict: the same request may succeed a moment later
  409: 'server',
  425: 'server',
  429: 'rate_limited',
  503: 'overloaded',
  504: 'timeout',
  524: 'timeout',
  529: 'overloaded',
}

const names: Readonly<Record<string, ModelErrorKind>> = {
  AbortError: 'aborted',
  APIUserAbortError: 'aborted',
  TimeoutError: 'timeout',
  APIConnectionTimeoutError: 'timeout',
  APIConnectionError: 'connection',
}

const codes: Readonly<Record<string, ModelErrorKind>> = {
  ABORT_ERR: 'aborted',
  ETIMEDOUT: 'timeout',
  ESOCKETTIMEDOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_SOCKET: 'connection',
  UND_ERR_CLOSED: 'connection',
  UND_ERR_DESTROYED: 'connection',
  ECONNRESET: 'connection',
  ECONNREFUSED: 'connection',
  ECONNABORTED: 'connection',
  EPIPE: 'connection',
  ENOTFOUND: 'connection',
  EAI_AGAIN: 'connection',
  ENETUNREACH: 'connection',
  ENETDOWN: 'connection',
  EHOSTUNREACH: 'connection',
  ERR_STREAM_PREMATURE_CLOSE: 'connection',
}

/** How browsers and Node describe a failed connection; such errors have no code. */
const brokenConnection = /^(fetch failed|failed to fetch|load failed|network ?error|terminated|socket hang up)/i

const maxDepth = 6
const maxBodyChars = 100_000

/**
 * Classifies any error that a model's client threw or that arrived as an `error` event, by `status`, `code`, `name` and
 * `error.type`, as the client libraries set them. Never throws.
 */
export function classifyModelError(error: unknown): ModelErrorKind {
  return classify(error, 0)
}

/** Whether the same request may be sent again. */
export const isRetryable = (kind: ModelErrorKind): boolean =>
  kind === 'overloaded' || kind === 'rate_limited' || kind === 'connection' || kind === 'server' || kind === 'timeout'

function classify(error: unknown, depth: number): ModelErrorKind {
  if (depth >= maxDepth || error === undefined || error === null) return 'unknown'
  const labels = labelsOf(error)
  const kind =
    look(names, readField(error, 'name')) ??
    look(names, readField(readField(error, 'constructor'), 'name')) ??
    first(clearLabels, labels) ??
    byStatus(readField(error, 'status') ?? readField(error, 'statusCode')) ??
    // a service that fails in mid-stream cannot send a status, but may send one as the code
    labels.map(byCode).find((found) => found !== undefined) ??
    first(vagueLabels, labels) ??
    look(codes, readField(error, 'code')) ??
    byMessage(error)
  if (kind === undefined) return classify(readField(error, 'cause') ?? readField(error, 'lastError'), depth + 1)
  // the cause of a connection error may be the client's own timeout
  return kind === 'connection' && classify(readField(error, 'cause'), depth + 1) === 'timeout' ? 'timeout' : kind
}

/**
 * The labels of an error and of its body. Clients put the body into `error`, with the actual error in `error` again; the
 * AI SDK puts the body into `data`, or as text into `responseBody`.
 */
function labelsOf(error: unknown): unknown[] {
  const bodies = [readField(error, 'error'), readField(error, 'data'), parsed(readField(error, 'responseBody'))]
  return [error, ...bodies.flatMap((body) => [body, readField(body, 'error')])].flatMap((each) => [
    readField(each, 'code'),
    readField(each, 'type'),
  ])
}

function parsed(text: unknown): unknown {
  if (typeof text !== 'string' || text.length > maxBodyChars) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Some services send the status as a code in mid-stream, as a number or as digits. */
const byCode = (code: unknown): ModelErrorKind | undefined =>
  byStatus(typeof code === 'string' && /^\d{3}$/.test(code) ? Number(code) : code)

function byStatus(status: unknown): ModelErrorKind | undefined {
  if (typeof status !== 'number') return undefined
  return statuses[status] ?? (status >= 500 ? 'server' : status >= 400 ? 'invalid_request' : undefined)
}

function byMessage(error: unknown): ModelErrorKind | undefined {
  const message = readField(error, 'message')
  return typeof message === 'string' && brokenConnection.test(message) ? 'connection' : undefined
}

const look = (table: Readonly<Record<string, ModelErrorKind>>, key: unknown): ModelErrorKind | undefined =>
  typeof key === 'string' && Object.hasOwn(table, key) ? table[key] : undefined

const first = (table: Readonly<Record<string, ModelErrorKind>>, keys: readonly unknown[]): ModelErrorKind | undefined =>
  keys.map((key) => look(table, key)).find((kind) => kind !== undefined)

/** The names of the Messages API, so that errors look the same for all services. */
const types: Readonly<Record<Exclude<ModelErrorKind, 'unknown'>, string>> = {
  overloaded: 'overloaded_error',
  rate_limited: 'rate_limit_error',
  connection: 'api_error',
  server: 'api_error',
  timeout: 'timeout_error',
  aborted: 'aborted',
  invalid_request: 'invalid_request_error',
  auth: 'authentication_error',
}

/** Converts an error from mid-stream to the type and message of an `error` event. */
export function errorParts(error: unknown): { type: string; message: string } {
  const inner = readField(error, 'error')
  const message = [error, inner].map((each) => asText(readField(each, 'message'))).find((text) => text !== undefined)
  const kind = classifyModelError(error)
  return {
    type: kind === 'unknown' ? (labelOf(error) ?? labelOf(inner) ?? 'unknown_error') : types[kind],
    message: message ?? (typeof error === 'string' ? error : `The service failed: ${describeValue(error, 500)}`),
  }
}

const labelOf = (error: unknown): string | undefined =>
  asText(readField(error, 'code')) ?? asText(readField(error, 'type'))
