import type { ConnectionLimits } from '../../machines/index.ts'
import { answerAtOnce } from '../errors/answer-at-once.ts'
import { SignalboxError } from '../errors/signalbox-error.ts'
import { type Clock, platformClock } from '../pipeline/clock.ts'
import { describeValue } from '../text/describe-value.ts'
import { isRecord } from '../text/is-record.ts'
import type { AnyTool } from '../tool/tool.ts'
import { boundedClock } from './bounded-clock.ts'
import type { McpConnection } from './mcp-connection.ts'
import type { McpState } from './mcp-state.ts'
import { resourceTools } from './resource-tools.ts'
import { checkServerConfig, type McpServerConfig } from './server-config.ts'
import { ServerLink } from './server-link.ts'
import { serverKey } from './tool-name.ts'

export interface McpOptions {
  /** By the names that stand in the names of their tools. */
  servers: Readonly<Record<string, McpServerConfig>>
  /** How a connection that broke is tried again. */
  reconnect?:
    | {
        /** How many attempts may fail in a row. @default 10 */
        attempts?: number | undefined
        /** The first pause, in milliseconds; each further one is twice as long. @default 500 */
        minMs?: number | undefined
        /** @default 30_000 */
        maxMs?: number | undefined
      }
    | undefined
  /**
   * How long a call waits for a connection that is not there, in milliseconds.
   * @default 10_000
   */
  waitMs?: number | undefined
  /** What went wrong without costing a result. */
  onWarning?: ((warning: McpWarning) => void) | undefined
  /** What servers print on the channel for errors: mostly what they log. */
  onStderr?: ((printed: { readonly server: string; readonly text: string }) => void) | undefined
  /** Called for each connection before it is made: hand it to an inspector or a recorder, and they see all of it. */
  onConnection?: ((connection: McpConnection) => void) | undefined
  /**
   * Where all timers come from.
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
  /** Why it is not connected, or was not before. */
  readonly problem: string | undefined
  /** How many of its tools can be used. */
  readonly tools: number
  readonly instructions: string | undefined
  readonly protocolVersion: string | undefined
}

export interface McpEvents {
  /** The tools are others now: hand `tools()` to the next turn. */
  tools: { readonly server: string }
  resources: { readonly server: string }
  state: McpServerStatus
}

export interface Mcp {
  /** The tools of all servers, as they are now. Those of a server that broke stay: it may be back in time. */
  tools(): AnyTool[]
  servers(): McpServerStatus[]
  /** The connections by the names of their servers, for an inspector, a recorder, or whoever wants to watch their charts. */
  readonly connections: ReadonlyMap<string, McpConnection>
  /** Returns how to stop listening. */
  on<Type extends keyof McpEvents>(type: Type, listener: (event: McpEvents[Type]) => void): () => void
  /** Connects a server anew, at once. False where there is no such server, or all are closed. */
  reconnect(server: string): boolean
  /** Ends every connection, and every program that was started for one. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const maxWarnings = 1_000

/**
 * Connects to MCP servers, and gives back their tools. It resolves when each first attempt has come to something; a server
 * that cannot be reached costs its own tools and nothing else, and is tried again.
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
      // whoever sends nothing but nonsense has been heard by then
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
  await Promise.all(links.map((link) => link.settled()))
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
    answerAtOnce(tell())
  } catch {
    // a listener only looks on
  }
}

function readServers({ servers }: McpOptions): [name: string, key: string, config: McpServerConfig][] {
  if (!isRecord(servers)) fail(`servers must be an object of servers, but got ${describeValue(servers, 80)}.`)
  const names = new Map<string, string>()
  return Object.entries(servers).map(([name, config]) => {
    const key = serverKey(name)
    if (key === '')
      fail(`servers: ${JSON.stringify(name)} has no letter or digit that could stand in the name of a tool.`)
    const taken = names.get(key)
    if (taken !== undefined)
      fail(`servers: ${JSON.stringify(taken)} and ${JSON.stringify(name)} would both be mcp__${key}.`)
    names.set(key, name)
    return [name, key, checkServerConfig(name, config)]
  })
}

function readLimits({ reconnect = {}, waitMs }: McpOptions): ConnectionLimits {
  const { attempts = 10, minMs = 500, maxMs = 30_000 } = reconnect
  const numbers = {
    'reconnect.attempts': attempts,
    'reconnect.minMs': minMs,
    'reconnect.maxMs': maxMs,
    waitMs: waitMs ?? 0,
  }
  for (const [option, value] of Object.entries(numbers)) {
    if (typeof value !== 'number' || !(value >= 0))
      fail(`${option} must be a number from 0, but got ${describeValue(value, 80)}.`)
  }
  return { maxAttempts: attempts, minBackoffMs: minMs, maxBackoffMs: maxMs, connectMs: 30_000, stableMs: 10_000 }
}

function fail(problem: string): never {
  throw new SignalboxError('invalid_option', problem)
}
