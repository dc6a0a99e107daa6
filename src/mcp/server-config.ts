import { z } from 'zod'
import { SignalboxError } from '../errors/signalbox-error.ts'
import type { WrapCommand } from '../shell/run-command.ts'
import { isRecord } from '../text/is-record.ts'
import type { Timeout } from '../tool/tool.ts'

/** What a host knows better than a server says of its own tool. */
export interface McpToolOverride {
  /** Whether its calls may run beside others: in place of `readOnlyHint`. */
  isSafe?: boolean | undefined
  /** Whether its calls may be tried again after the connection broke: in place of `idempotentHint`. */
  isIdempotent?: boolean | undefined
  /** Whether its calls are asked for even where a rule allows them: in place of `destructiveHint`. */
  asks?: boolean | undefined
}

interface AnyServer {
  /**
   * Whether the hints of the server make its calls safer: `readOnlyHint` lets them run side by side, `idempotentHint` lets
   * them be tried again. With `none` only those count that make it stricter.
   * @default 'hints'
   */
  trust?: 'hints' | 'none' | undefined
  /** Only these tools, by the server's own names. */
  allowTools?: readonly string[] | undefined
  /** Not these tools. */
  denyTools?: readonly string[] | undefined
  /** By the server's own names. */
  tools?: Readonly<Record<string, McpToolOverride>> | undefined
  /**
   * For each call, in milliseconds.
   * @default { totalMs: 600_000, idleMs: 120_000 }
   */
  timeout?: Timeout | undefined
  /**
   * For a connection with all that belongs to it.
   * @default 30_000
   */
  connectMs?: number | undefined
  /**
   * How large one message of the server may be, in bytes.
   * @default 16_000_000
   */
  maxMessageBytes?: number | undefined
  /**
   * How many notifications the server may send in one burst, a fifth of that each second in the long run. More is a flood,
   * and ends the connection.
   * @default 5_000
   */
  maxNotifications?: number | undefined
}

/** A program that is started, and spoken with over its input and output. */
export interface StdioServer extends AnyServer {
  command: string
  args?: readonly string[] | undefined
  /** Variables for it, besides the few of the host's that it gets. */
  env?: Readonly<Record<string, string>> | undefined
  /** @default the working directory of the host */
  cwd?: string | undefined
  /** Changes what is run, such as into the same in a sandbox. */
  wrapCommand?: WrapCommand | undefined
}

/** A server that is spoken with over streamable HTTP. */
export interface HttpServer extends AnyServer {
  url: string
  headers?: Readonly<Record<string, string>> | undefined
  /** For proxies, tests, and whoever signs requests. */
  fetch?: typeof fetch | undefined
}

export type McpServerConfig = StdioServer | HttpServer

export const isStdio = (config: McpServerConfig): config is StdioServer => 'command' in config

const count = z.number().int().positive()
const override = z.strictObject({
  isSafe: z.boolean().optional(),
  isIdempotent: z.boolean().optional(),
  asks: z.boolean().optional(),
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

export const stdioServer = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  env: texts.optional(),
  cwd: z.string().optional(),
  wrapCommand: own.optional(),
  ...anyServer,
})
export const httpServer = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  headers: texts.optional(),
  fetch: own.optional(),
  ...anyServer,
})

/** Checked on entry, so that a wrong option fails where it was written. */
export function checkServerConfig(name: string, config: unknown): McpServerConfig {
  const isProgram = isRecord(config) && config.command !== undefined
  const parsed = (isProgram ? stdioServer : httpServer).safeParse(config)
  if (parsed.success) return config as McpServerConfig
  const [issue] = parsed.error.issues
  const where = ['servers', name, ...(issue?.path ?? [])].join('.')
  const what =
    isRecord(config) && !isProgram && config.url === undefined ? 'it needs a command or a url' : issue?.message
  throw new SignalboxError('invalid_option', `${where}: ${what}.`)
}
