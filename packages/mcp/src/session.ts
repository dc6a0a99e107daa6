import type { Client, JSONRPCMessage, RequestOptions, Transport } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { boundedFetch } from './bounded-fetch.ts'
import { guardedTransport } from './guarded-transport.ts'
import { mcpFailure, readFailure } from './mcp-failure.ts'
import { isStdio, type McpServerConfig } from './server-config.ts'
import { type StdioTransport, stdioTransport } from './stdio-transport.ts'

export interface SessionHost {
  readonly name: string
  now(): number
  /** The connection can no longer be used. */
  onLost(problem: string): void
  onToolsChanged(): void
  onResourcesChanged(): void
  /** Non-fatal warnings. */
  onTrouble(problem: string): void
  onStderr(text: string): void
}

/** One connection to a server, while it lasts. */
export interface Session {
  readonly hasTools: boolean
  readonly hasResources: boolean
  readonly instructions: string | undefined
  readonly serverInfo: { readonly name?: string; readonly version?: string } | undefined
  readonly protocolVersion: string | undefined
  readonly hasPing: boolean
  request(
    method: string,
    params: object,
    options: { signal: AbortSignal; onprogress?: RequestOptions['onprogress'] },
  ): Promise<Record<string, unknown>>
  close(): Promise<void>
}

type Sdk = typeof import('@modelcontextprotocol/client')

/** Timeouts that never fire: the caller limits how long a call may take. */
const never = 2 ** 31 - 1
const probeMs = 3_000
const defaultMaxMessageBytes = 16_000_000
const defaultMaxNotifications = 5_000
const goodbyeMs = 1_000
const anyResult = z.looseObject({})

/** Connects, with any protocol version that both sides support. */
export async function openSession(config: McpServerConfig, host: SessionHost, signal: AbortSignal): Promise<Session> {
  const sdk = await loadSdk()
  try {
    return await open(sdk, config, host, signal, 'auto')
  } catch (error) {
    if (signal.aborted || isHopeless(error)) throw error
    // some servers exit at an unknown request, which is how newer servers are asked for their version
    return open(sdk, config, host, signal, 'legacy')
  }
}

/** A retry would fail in the same way. */
export function isHopeless(error: unknown): boolean {
  const { code, data } = error as { code?: unknown; data?: { status?: unknown } }
  return code === 'ENOENT' || code === 'EACCES' || data?.status === 401 || data?.status === 403
}

/** Loaded for the first connection: hosts without servers do not wait for it. */
const loadSdk = (): Promise<Sdk> => import('@modelcontextprotocol/client')

async function open(
  sdk: Sdk,
  config: McpServerConfig,
  host: SessionHost,
  signal: AbortSignal,
  mode: 'auto' | 'legacy',
): Promise<Session> {
  signal.throwIfAborted()
  let isOpen = false
  let lastTrouble: string | undefined
  const lose = (problem: string): void => {
    if (!isOpen) return
    isOpen = false
    host.onLost(problem)
  }
  const inner = transportFor(sdk, config, host)
  const flooded = (): void => {
    lastTrouble = 'the server sent too many notifications'
    lose(lastTrouble)
    inner.close().catch(() => undefined)
  }
  const { maxNotifications = defaultMaxNotifications } = config
  const transport = guardedTransport(inner, { maxNotifications, now: host.now, onFlood: flooded })
  const client = clientFor(sdk, host, mode)
  client.onerror = (error) => {
    lastTrouble = error.message
    if (isOpen) host.onTrouble(error.message)
  }
  client.onclose = () => lose(lastTrouble ?? 'the connection was closed')
  const close = async (): Promise<void> => {
    isOpen = false
    await endSession(client, inner)
    await ended(inner)
  }
  const abandon = (): void => void close()
  signal.addEventListener('abort', abandon, { once: true })
  try {
    await client.connect(transport, { timeout: never, signal })
  } catch (error) {
    await close()
    throw withTrouble(error, lastTrouble)
  } finally {
    signal.removeEventListener('abort', abandon)
  }
  isOpen = true
  return sessionOf(client, host, lose, close)
}

function clientFor({ Client }: Sdk, host: SessionHost, mode: 'auto' | 'legacy'): Client {
  const info = { name: 'signalbox', version: '0.1.0' }
  return new Client(info, {
    versionNegotiation: { mode, probe: { timeoutMs: probeMs } },
    listChanged: {
      tools: { autoRefresh: false, debounceMs: 0, onChanged: () => host.onToolsChanged() },
      resources: { autoRefresh: false, debounceMs: 0, onChanged: () => host.onResourcesChanged() },
    },
  })
}

function transportFor(sdk: Sdk, config: McpServerConfig, host: SessionHost): Transport {
  const { maxMessageBytes = defaultMaxMessageBytes } = config
  if (isStdio(config)) {
    const parse = (line: string): JSONRPCMessage => parseMessage(sdk, line)
    return stdioTransport(config, { maxMessageBytes, parse, onStderr: (text) => host.onStderr(text) })
  }
  return new sdk.StreamableHTTPClientTransport(new URL(config.url), {
    fetch: boundedFetch(config.fetch ?? fetch, maxMessageBytes),
    requestInit: { headers: { ...config.headers } },
    reconnectionOptions: {
      initialReconnectionDelay: 200,
      maxReconnectionDelay: 2_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 3,
    },
  })
}

/** An invalid response is still the response: the request must not wait for another. */
function parseMessage(sdk: Sdk, line: string): JSONRPCMessage {
  try {
    return sdk.deserializeMessage(line)
  } catch (error) {
    const { id, method } = JSON.parse(line) ?? {}
    if ((typeof id !== 'number' && typeof id !== 'string') || method !== undefined) throw error
    return { jsonrpc: '2.0', id, error: { code: -32_603, message: `invalid response: ${line.slice(0, 500)}` } }
  }
}

function sessionOf(
  client: Client,
  host: SessionHost,
  lose: (problem: string) => void,
  close: () => Promise<void>,
): Session {
  const capabilities = client.getServerCapabilities()
  return {
    hasTools: capabilities?.tools !== undefined,
    hasResources: capabilities?.resources !== undefined,
    instructions: client.getInstructions(),
    serverInfo: client.getServerVersion(),
    protocolVersion: client.getNegotiatedProtocolVersion(),
    hasPing: client.getProtocolEra() !== 'modern',
    close,
    async request(method, params, { signal, onprogress }) {
      if (signal.aborted) throw mcpFailure('The call was stopped before it was sent.', { isUndone: true })
      try {
        const options = { signal, timeout: never, ...(onprogress !== undefined && { onprogress }) }
        return await client.request({ method, params: { ...params } }, anyResult, options)
      } catch (error) {
        const failure = readFailure(host.name, error)
        if (failure.isBroken && !signal.aborted) lose(failure.message)
        throw failure
      }
    },
  }
}

/** Ends the session on the server too, if it responds. */
async function endSession(client: Client, inner: Transport): Promise<void> {
  if ('terminateSession' in inner && inner.sessionId !== undefined) {
    const goodbye = (inner.terminateSession as () => Promise<void>).call(inner).catch(() => undefined)
    let timer: ReturnType<typeof setTimeout> | undefined
    await Promise.race([goodbye, new Promise((resolve) => (timer = setTimeout(resolve, goodbyeMs)))])
    clearTimeout(timer)
  }
  await client.close().catch(() => undefined)
  await inner.close().catch(() => undefined)
}

const ended = (inner: Transport): Promise<void> =>
  'ended' in inner ? (inner as StdioTransport).ended : Promise.resolve()

function withTrouble(error: unknown, trouble: string | undefined): unknown {
  if (!(error instanceof Error) || trouble === undefined || error.message.includes(trouble)) return error
  return Object.assign(new Error(`${trouble} (${error.message})`, { cause: error }), {
    code: (error as { code?: unknown }).code,
    data: (error as { data?: unknown }).data,
  })
}
