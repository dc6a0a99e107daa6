import type { Readable, Writable } from 'node:stream'
import {
  type AnyTool,
  describeValue,
  type ExecutorOptions,
  type Hooks,
  type PermissionSettings,
  SignalboxError,
  type StreamingToolExecutor,
  type ToolUseContext,
} from 'signalbox'
import { CallDispatcher } from './call-dispatcher.ts'
import { loadServerSdk, mcpServer } from './mcp-server.ts'
import { type HttpOptions, serveHttp } from './serve-http.ts'

export interface ServeMcpOptions {
  tools: readonly AnyTool[]
  /** stdin and stdout of this process, your own streams, or HTTP. @default 'stdio' */
  transport?: 'stdio' | { input: Readable; output: Writable } | { http: HttpOptions } | undefined
  /** Permission rules. A rule that asks prompts the client. */
  permissions?: PermissionSettings | undefined
  hooks?: Hooks | undefined
  /** Additional context for the tools. */
  context?: Partial<ToolUseContext> | undefined
  /** Limits, a store for long results, a clock. */
  executor?: ExecutorOptions | undefined
  /**
   * Timeout for a prompt to the client, in milliseconds.
   * @default 300_000
   */
  askMs?: number | undefined
  /** Called for each executor that runs calls, one after another: pass them to an inspector. */
  onExecutor?: ((executor: StreamingToolExecutor) => void) | undefined
  /** @default 'signalbox' */
  name?: string | undefined
  version?: string | undefined
  /** Instructions for the model about the tools. */
  instructions?: string | undefined
}

export interface ServedMcp {
  /** The URL for clients, if the transport is HTTP. */
  readonly url: string | undefined
  /** Resolves when the client disconnects (stdio), or when the server is closed. */
  readonly closed: Promise<void>
  /** Closes the connections and stops running calls. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Serves tools over MCP. Calls of all clients go through one executor: safe calls in parallel, an unsafe call alone,
 * all under the same rules, hooks and limits.
 *
 * @example
 * const { tools } = createTools({ root: process.cwd() })
 * const server = await serveMcp({ tools, permissions: { allow: ['Read', 'Grep'] } })
 */
export async function serveMcp(options: ServeMcpOptions): Promise<ServedMcp> {
  const { tools, transport = 'stdio', permissions, hooks, context, askMs = 300_000, onExecutor } = options
  if (!Array.isArray(tools))
    throw new SignalboxError(
      'invalid_option',
      `tools: expected an array of tools, received ${describeValue(tools, 80)}.`,
    )
  const sdk = await loadServerSdk()
  const dispatcher = new CallDispatcher({
    tools,
    context: { ...context, ...(permissions !== undefined && { permissions }), ...(hooks !== undefined && { hooks }) },
    executor: options.executor ?? {},
    askMs,
    onExecutor: onExecutor ?? (() => undefined),
  })
  const { name = 'signalbox', version = '0.1.0', instructions } = options
  const makeServer = () => mcpServer(sdk, dispatcher, { name, version, instructions })
  let markClosed: () => void = () => undefined
  const closed = new Promise<void>((resolve) => {
    markClosed = resolve
  })
  const http =
    typeof transport === 'object' && 'http' in transport ? await serveHttp(sdk, makeServer, transport.http) : undefined
  const stdio =
    typeof transport === 'object' && 'http' in transport
      ? undefined
      : await startStdio(makeServer, transport, markClosed)
  const close = async (): Promise<void> => {
    await dispatcher.close()
    await Promise.all([http?.close(), stdio?.close()])
    markClosed()
  }
  return { url: http?.url, closed, close, [Symbol.asyncDispose]: close }
}

async function startStdio(
  makeServer: () => ReturnType<typeof mcpServer>,
  transport: 'stdio' | { input: Readable; output: Writable },
  onEnd: () => void,
): Promise<{ close(): Promise<void> }> {
  const { serveStdio, StdioServerTransport } = await import('@modelcontextprotocol/server/stdio')
  const { input, output } = transport === 'stdio' ? { input: process.stdin, output: process.stdout } : transport
  input.once('end', onEnd).once('close', onEnd)
  output.once('error', onEnd)
  return serveStdio(makeServer, { transport: new StdioServerTransport(input, output) })
}
