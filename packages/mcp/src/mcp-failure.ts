import { describeError } from 'signalbox'
import { streamEnded } from './guarded-transport.ts'
import { readField } from './plain-values.ts'

/** How a request failed, as far as it decides what happens next. */
export interface McpFailure extends Error {
  /** The connection can no longer be used. */
  readonly isBroken: boolean
  /** The response was lost, so it is unknown whether the server ran the call. */
  readonly isTransport: boolean
  /** The server has certainly not started it. */
  readonly isUndone: boolean
}

/** The error text of a transport whose program has exited. */
export const notRunning = 'the server is not running'

export function mcpFailure(message: string, how: Partial<Omit<McpFailure, keyof Error>> = {}): McpFailure {
  const { isBroken = false, isTransport = isBroken, isUndone = false } = how
  const label = isTransport ? 'McpConnection' : 'McpError'
  const error = Object.assign(new Error(message), { telemetryMessage: label, isBroken, isTransport, isUndone })
  return Object.assign(error, { name: 'McpError' })
}

export const isMcpFailure = (error: unknown): error is McpFailure =>
  error instanceof Error && typeof readField(error, 'isBroken') === 'boolean'

/** Converts an error of the SDK. */
export function readFailure(server: string, error: unknown): McpFailure {
  if (isMcpFailure(error)) return error
  const code = readField(error, 'code')
  const message = String(readField(error, 'message') ?? error)
  const status = readField(readField(error, 'data'), 'status')
  if (status === 404) return mcpFailure(`${server} no longer knows this session.`, { isBroken: true, isUndone: true })
  if (typeof status === 'number') return mcpFailure(`${server} returned HTTP ${status}: ${message.slice(0, 2_000)}`)
  if (readField(error, 'data') === streamEnded) {
    return mcpFailure(`The connection to ${server} broke before the response arrived.`, { isTransport: true })
  }
  if (typeof code === 'number') return mcpFailure(`${server} returned an error (${code}): ${message.slice(0, 10_000)}`)
  if (code === 'CONNECTION_CLOSED' || code === 'NOT_CONNECTED' || code === 'SEND_FAILED' || isNetwork(error)) {
    const cause = readField(readField(error, 'cause'), 'message')
    const why = code === 'CONNECTION_CLOSED' ? '' : ` (${typeof cause === 'string' ? cause : message})`
    return mcpFailure(`The connection to ${server} broke${why}.`, { isBroken: true, isUndone: isUnsent(error) })
  }
  if (code === 'INVALID_RESULT') return mcpFailure(`${server} returned an invalid result: ${message.slice(0, 2_000)}`)
  return mcpFailure(`${server}: ${describeError(error, 'The client')}`)
}

const neverReached = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

/** The request was never sent. */
const isUnsent = (error: unknown): boolean =>
  neverReached.has(String(readField(readField(error, 'cause'), 'code'))) || String(error).includes(notRunning)

/** `fetch` throws a TypeError for every network failure. */
const isNetwork = (error: unknown): boolean =>
  error instanceof TypeError || [notRunning, 'Not connected', 'EPIPE'].some((part) => String(error).includes(part))
