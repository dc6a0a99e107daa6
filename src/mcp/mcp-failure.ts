import { describeError } from '../errors/describe-error.ts'
import { readField } from '../errors/read-field.ts'
import { streamEnded } from './guarded-transport.ts'

/** How a request failed, as far as it matters for what is done next. */
export interface McpFailure extends Error {
  /** The connection is no good any more. */
  readonly isBroken: boolean
  /** It was lost on the way, so that nobody knows whether the server did it. */
  readonly isTransport: boolean
  /** The server has surely not begun with it. */
  readonly isUndone: boolean
}

/** What a transport says whose program has ended. */
export const notRunning = 'the server does not run'

export function mcpFailure(message: string, how: Partial<Omit<McpFailure, keyof Error>> = {}): McpFailure {
  const { isBroken = false, isTransport = isBroken, isUndone = false } = how
  const label = isTransport ? 'McpConnection' : 'McpError'
  const error = Object.assign(new Error(message), { telemetryMessage: label, isBroken, isTransport, isUndone })
  return Object.assign(error, { name: 'McpError' })
}

export const isMcpFailure = (error: unknown): error is McpFailure =>
  error instanceof Error && typeof readField(error, 'isBroken') === 'boolean'

/** What the SDK threw, as one of ours. */
export function readFailure(server: string, error: unknown): McpFailure {
  if (isMcpFailure(error)) return error
  const code = readField(error, 'code')
  const message = String(readField(error, 'message') ?? error)
  const status = readField(readField(error, 'data'), 'status')
  if (status === 404) return mcpFailure(`${server} has forgotten this session.`, { isBroken: true, isUndone: true })
  if (typeof status === 'number')
    return mcpFailure(`${server} answered with HTTP ${status}: ${message.slice(0, 2_000)}`)
  if (readField(error, 'data') === streamEnded) {
    return mcpFailure(`The connection to ${server} broke before the answer came.`, { isTransport: true })
  }
  if (typeof code === 'number')
    return mcpFailure(`${server} answered with an error (${code}): ${message.slice(0, 10_000)}`)
  if (code === 'CONNECTION_CLOSED' || code === 'NOT_CONNECTED' || code === 'SEND_FAILED' || isNetwork(error)) {
    const cause = readField(readField(error, 'cause'), 'message')
    const why = code === 'CONNECTION_CLOSED' ? '' : ` (${typeof cause === 'string' ? cause : message})`
    return mcpFailure(`The connection to ${server} broke${why}.`, { isBroken: true, isUndone: isUnsent(error) })
  }
  if (code === 'INVALID_RESULT')
    return mcpFailure(`${server} answered with something that is no result: ${message.slice(0, 2_000)}`)
  return mcpFailure(`${server}: ${describeError(error, 'The client')}`)
}

const neverReached = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

/** Nobody was there to send it to. */
const isUnsent = (error: unknown): boolean =>
  neverReached.has(String(readField(readField(error, 'cause'), 'code'))) || String(error).includes(notRunning)

/** `fetch` throws a TypeError whatever happened to the network. */
const isNetwork = (error: unknown): boolean =>
  error instanceof TypeError || [notRunning, 'Not connected', 'EPIPE'].some((part) => String(error).includes(part))
