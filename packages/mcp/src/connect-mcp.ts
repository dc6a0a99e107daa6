import { type AnyTool, type Clock, describeValue, platformClock, SignalboxError } from 'signalbox'
import type { ConnectionLimits } from 'signalbox/machines'
import { boundedClock } from './bounded-clock.ts'
import type { McpConnection, McpState } from './mcp-state.ts'
import { isRecord } from './plain-values.ts'
import { resourceTools } from './resource-tools.ts'
import { checkServerConfig, type McpServerConfig } from './server-config.ts'
import { ServerLink } from './server-link.ts'
import { serverKey } from './tool-name.ts'

export interface McpOptions {
  /** Servers by name; the name becomes part of their tools' names. */
  servers: Readonly<Record<string, McpServerConfig>>
  /** How a broken connection is retried. */
  reconnect?:
    | {
        /** Maximum number of failed attempts in a row. @default 10 */
        attempts?: number | undefined
        /** The first delay, in milliseconds; each further delay is twice as long. @default 500 */
        minMs?: number | undefined
        /** @default 30_000 */
        maxMs?: number | undefined
      }
    | undefined
  /**
   * How long a call waits for a missing connection, in milliseconds.
   * @default 10_000
   */
  waitMs?: number | undefined
  /** Non-fatal warnings. */
  onWarning?: ((warning: McpWarning) => void) | undefined
  /** The stderr of servers: mostly logs. */
  onStderr?: ((printed: { readonly server: string; readonly text: string }) => void) | undefined
  /** Called for each connection before it opens: pass it to an inspector or a recorder to see all of it. */
  onConnection?: ((connection: McpConnection) => void) | undefined
  /**
   * The source of all timers.
   * @default the timers of the platform
   */
  clock?: Clock | undefined
}

export interface McpWarning {
  readonly server: string
  readonly message: string
}

export interface McpServerStatus {
  readonly name: string
  readonly state: McpState
  /** Why the server is not connected, or why the last connection broke. */
  readonly problem: string | undefined
  /** Number of usable tools. */
  readonly tools: number
  readonly instructions: string | undefined
  readonly protocolVersion: string | undefined
}

export interface McpEvents {
  /** The tools have changed: pass `tools()` to the next turn. */
  tools: { readonly server: string }
  resources: { readonly server: string }
  state: McpServerStatus
}

export interface Mcp {
  /** The current tools of all servers. Tools of a broken server stay: it may reconnect in time. */
  tools(): AnyTool[]
  servers(): McpServerStatus[]
  /** The connections by server name, for an inspector, a recorder, or your own code. */
  readonly connections: ReadonlyMap<string, McpConnection>
  /** Returns a function that removes the listener. */
  on<Type extends keyof McpEvents>(type: Type, listener: (event: McpEvents[Type]) => void): () => void
  /** Reconnects a server immediately. False if the server is unknown, or everything is closed. */
  reconnect(server: string): boolean
  /** Closes every connection and stops every program that was started for one. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const maxWarnings = 1_000

/**
 * Connects to MCP servers and returns their tools. Resolves when every first attempt has succeeded or failed. A server
 * that cannot be reached loses only its own tools, and is retried.
 *
 * @example
 * const mcp = await connectMcp({ servers: { files: { command: 'npx', args: ['server-filesystem', '.'] } } })
 * const run = query({ messages, model, tools: [...tools, ...mcp.tools()] })
 */
export async function connectMcp(options: McpOptions): Promise<Mcp> {
  const configs = readServers(options)
  const limits = readLimits(options)
  const { waitMs = 10_000 } = options
  const clock = boundedClock(options.clock ?? platformClock)
  const listeners = new Map<keyof McpEvents, Set<(event: never) => void>>()
  const emit = <Type extends keyof McpEvents>(type: Type, event: McpEvents[Type]): void => {
    for (const listener of [...(listeners.get(type) ?? [])])
      quietly(() => (listener as (e: typeof event) => unknown)(event))
  }
  const links = configs.map(([name, key, config]) => {
    let warned = 0
    const warn = (message: string): void => {
      // a server that sends only invalid messages has been detected by then
      if (++warned <= maxWarnings) quietly(() => options.onWarning?.({ server: name, message }))
    }
    const link: ServerLink = new ServerLink(name, key, config, {
      clock,
      limits,
      waitMs,
      warn,
      onStderr: (text) => quietly(() => options.onStderr?.({ server: name, text })),
      onChange: (what) => (what === 'state' ? emit('state', statusOf(link)) : emit(what, { server: name })),
    })
    return link
  })
  for (const { connection } of links) quietly(() => options.onConnection?.(connection))
  for (const link of links) link.start()
  await Promise.all(links.map((link) => link.firstAttempt()))
  const close = async (): Promise<void> => {
    await Promise.all(links.map((link) => link.close()))
  }
  return {
    tools: () => [...links.flatMap(({ tools }) => tools), ...resourceTools(links)],
    servers: () => links.map(statusOf),
    connections: new Map(links.map(({ name, connection }) => [name, connection])),
    on(type, listener) {
      const known = listeners.get(type) ?? new Set()
      listeners.set(type, known.add(listener))
      return () => void known.delete(listener)
    },
    reconnect(server) {
      const link = links.find(({ name }) => name === server)
      return link?.reconnect() === true
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

const statusOf = (link: ServerLink): McpServerStatus => ({
  name: link.name,
  state: link.state,
  problem: link.problem,
  tools: link.tools.length,
  instructions: link.session?.instructions,
  protocolVersion: link.session?.protocolVersion,
})

function quietly(tell: () => unknown): void {
  try {
    const told = tell()
    // otherwise its rejection would be unhandled
    if (told instanceof Promise) told.catch(() => undefined)
  } catch {
    // an error in a listener must not affect the connection
  }
}

function readServers({ servers }: McpOptions): [name: string, key: string, config: McpServerConfig][] {
  if (!isRecord(servers)) fail(`servers: expected an object of servers, received ${describeValue(servers, 80)}.`)
  const names = new Map<string, string>()
  return Object.entries(servers).map(([name, config]) => {
    const key = serverKey(name)
    if (key === '')
      fail(`servers: ${JSON.stringify(name)} contains no letter or digit to build a tool name from. Rename the server.`)
    const taken = names.get(key)
    if (taken !== undefined)
      fail(
        `servers: ${JSON.stringify(taken)} and ${JSON.stringify(name)} would both become mcp__${key}. Rename one of them.`,
      )
    names.set(key, name)
    return [name, key, checkServerConfig(name, config)]
  })
}

function readLimits({ reconnect = {}, waitMs }: McpOptions): ConnectionLimits {
  const { attempts = 10, minMs = 500, maxMs = 30_000 } = reconnect
  const check = (option: string, value: unknown, expected: string): void => {
    if (typeof value !== 'number' || !(value >= 0))
      fail(`${option}: expected ${expected}, received ${describeValue(value, 80)}.`)
  }
  check('reconnect.attempts', attempts, 'a number of at least 0')
  check('reconnect.minMs', minMs, 'milliseconds')
  check('reconnect.maxMs', maxMs, 'milliseconds')
  check('waitMs', waitMs ?? 0, 'milliseconds')
  return { maxAttempts: attempts, minBackoffMs: minMs, maxBackoffMs: maxMs, connectMs: 30_000, stableMs: 10_000 }
}

function fail(problem: string): never {
  throw new SignalboxError('invalid_option', problem)
}
