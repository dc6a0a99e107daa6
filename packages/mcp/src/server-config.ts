import { type Resources, SignalboxError, type Timeout } from 'signalbox'
import type { WrapCommand } from 'signalbox/node'
import { z } from 'zod'
import { isRecord } from './plain-values.ts'

/** The host's overrides of a server's claims about its tool. */
export interface McpToolOverride {
  /** Whether its calls may run in parallel; overrides `readOnlyHint`. */
  isSafe?: boolean | undefined
  /** Whether its calls may be retried after the connection broke; overrides `idempotentHint`. */
  isIdempotent?: boolean | undefined
  /** Whether its calls need a prompt even if a rule allows them; overrides `destructiveHint`. */
  asks?: boolean | undefined
  /** The keys that its calls read and write, such as `mcp:tickets/`. Calls that do not conflict run in parallel. */
  resources?: Resources | undefined
}

interface AnyServer {
  /**
   * Whether the server's hints may relax its calls: `readOnlyHint` lets them run in parallel, `idempotentHint` lets
   * them be retried. With `none`, only hints that make calls stricter count.
   * @default 'hints'
   */
  trust?: 'hints' | 'none' | undefined
  /** Use only these tools, by the server's own names. */
  allowTools?: readonly string[] | undefined
  /** Exclude these tools. */
  denyTools?: readonly string[] | undefined
  /** By the server's own names. */
  tools?: Readonly<Record<string, McpToolOverride>> | undefined
  /**
   * Timeouts of each call, in milliseconds.
   * @default { totalMs: 600_000, idleMs: 120_000 }
   */
  timeout?: Timeout | undefined
  /**
   * Timeout for connecting, including the list of tools.
   * @default 30_000
   */
  connectMs?: number | undefined
  /**
   * Maximum size of one message of the server, in bytes.
   * @default 16_000_000
   */
  maxMessageBytes?: number | undefined
  /**
   * Maximum burst of notifications; a fifth of that is restored each second. More is a flood, and closes the
   * connection.
   * @default 5_000
   */
  maxNotifications?: number | undefined
}

/** A program that is started and used over stdin and stdout. */
export interface StdioServer extends AnyServer {
  command: string
  args?: readonly string[] | undefined
  /** Variables for the program, added to the few it inherits from the host. */
  env?: Readonly<Record<string, string>> | undefined
  /** @default the working directory of the host */
  cwd?: string | undefined
  /** Changes the program that is started, such as to run it in a sandbox. */
  wrapCommand?: WrapCommand | undefined
}

/** A server that is used over streamable HTTP. */
export interface HttpServer extends AnyServer {
  url: string
  headers?: Readonly<Record<string, string>> | undefined
  /** For proxies, tests, and signed requests. */
  fetch?: typeof fetch | undefined
}

export type McpServerConfig = StdioServer | HttpServer

export const isStdio = (config: McpServerConfig): config is StdioServer => 'command' in config

const count = z.number().int().positive()
const key = z.string().regex(/^(?:\*|[a-z][a-z0-9+.-]*:.+)$/i, "expected '*' or 'scheme:path'")
const override = z.strictObject({
  isSafe: z.boolean().optional(),
  isIdempotent: z.boolean().optional(),
  asks: z.boolean().optional(),
  resources: z.strictObject({ reads: z.array(key).optional(), writes: z.array(key).optional() }).optional(),
})
const anyServer = {
  trust: z.enum(['hints', 'none']).optional(),
  allowTools: z.array(z.string()).optional(),
  denyTools: z.array(z.string()).optional(),
  tools: z.record(z.string(), override).optional(),
  timeout: z
    .union([
      z.number().min(0),
      z.strictObject({ totalMs: z.number().min(0).optional(), idleMs: z.number().min(0).optional() }),
    ])
    .optional(),
  connectMs: count.optional(),
  maxMessageBytes: count.optional(),
  maxNotifications: count.optional(),
}
const texts = z.record(z.string(), z.string())
const own = z.custom<(...args: never[]) => unknown>((value) => typeof value === 'function', 'must be a function')

const stdioServer = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  env: texts.optional(),
  cwd: z.string().optional(),
  wrapCommand: own.optional(),
  ...anyServer,
})
const httpServer = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  headers: texts.optional(),
  fetch: own.optional(),
  ...anyServer,
})

/** Validates options at the start, so that the error appears where the option was written. */
export function checkServerConfig(name: string, config: unknown): McpServerConfig {
  const isProgram = isRecord(config) && config.command !== undefined
  const parsed = (isProgram ? stdioServer : httpServer).safeParse(config)
  if (parsed.success) return config as McpServerConfig
  const [issue] = parsed.error.issues
  const where = ['servers', name, ...(issue?.path ?? [])].join('.')
  const what =
    isRecord(config) && !isProgram && config.url === undefined ? 'expected a command or a url' : issue?.message
  throw new SignalboxError('invalid_option', `${where}: ${what}.`)
}
