import { readField } from '../base/read-field.ts'

/** What kind of trouble a model's service is in, or made. */
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

/** These say more than the status: they come in mid-stream, or under a status that means something else. */
const clearLabels: Readonly<Record<string, ModelErrorKind>> = {
  overloaded_error: 'overloaded',
  server_is_overloaded: 'overloaded',
  slow_down: 'rate_limited',
  rate_limit_error: 'rate_limited',
  rate_limit_exceeded: 'rate_limited',
  // waiting does not fill an empty account
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

/** These are used for much; a status says more. */
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
  // a lock that was held: the same request may pass a moment later
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

/** What browsers and Node call a connection that failed or broke; there is nothing else to know it by. */
const brokenConnection = /^(fetch failed|failed to fetch|load failed|network ?error|terminated|socket hang up)/i

const maxDepth = 6
const maxBodyChars = 100_000

/**
 * The kind of anything that a model's client threw, or that came as an `error` event. It goes by `status`, `code`,
 * `name` and `error.type`, as the client libraries have them, and never throws.
 */
export function classifyModelError(error: unknown): ModelErrorKind {
  return classify(error, 0)
}

/** May the same request be sent once more? */
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
    // a service that fails in mid-stream has no status left, and may send one as the code
    labels.map(byCode).find((found) => found !== undefined) ??
    first(vagueLabels, labels) ??
    look(codes, readField(error, 'code')) ??
    byMessage(error)
  if (kind === undefined) return classify(readField(error, 'cause') ?? readField(error, 'lastError'), depth + 1)
  // a client's own timeout may stand behind what it calls a connection error
  return kind === 'connection' && classify(readField(error, 'cause'), depth + 1) === 'timeout' ? 'timeout' : kind
}

/**
 * A client's error has the body in `error`, which has the error in `error` again; the AI SDK has it in `data`, or only
 * as text in `responseBody`.
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

/** Some services send the status as a code in mid-stream, as a number or in digits. */
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
