import type { Readable, Writable } from 'node:stream'
import { SignalboxError } from '../../errors/signalbox-error.ts'
import type { ExecutorOptions } from '../../executor/options.ts'
import type { StreamingToolExecutor } from '../../executor/streaming-tool-executor.ts'
import type { Hooks } from '../../hooks/hook.ts'
import type { PermissionSettings } from '../../permission/permission-settings.ts'
import type { AnyTool } from '../../tool/tool.ts'
import type { ToolUseContext } from '../../tool/tool-use-context.ts'
import type { HttpOptions } from './http-options.ts'
import { loadServerSdk, mcpServer } from './mcp-server.ts'
import { serveHttp } from './serve-http.ts'
import { ToolDesk } from './tool-desk.ts'

export interface ServeMcpOptions {
  tools: readonly AnyTool[]
  /** Over the input and output of this process, over streams of yours, or over HTTP. @default 'stdio' */
  transport?: 'stdio' | { input: Readable; output: Writable } | { http: HttpOptions } | undefined
  /** What may run without asking, what is asked, and what never runs. What is asked, the client is asked. */
  permissions?: PermissionSettings | undefined
  hooks?: Hooks | undefined
  /** Whatever else tools find in their context. */
  context?: Partial<ToolUseContext> | undefined
  /** Limits, a store for long results, a clock. */
  executor?: ExecutorOptions | undefined
  /**
   * How long a question to the client may stay without an answer, in milliseconds.
   * @default 300_000
   */
  askMs?: number | undefined
  /** Called for each executor that runs calls, one after another: hand them to an inspector. */
  onExecutor?: ((executor: StreamingToolExecutor) => void) | undefined
  /** @default 'signalbox' */
  name?: string | undefined
  version?: string | undefined
  /** What a model should know of the tools. */
  instructions?: string | undefined
}

export interface ServedMcp {
  /** Where clients connect, if it is HTTP. */
  readonly url: string | undefined
  /** When the client has gone (stdio), or all is closed. */
  readonly closed: Promise<void>
  /** Ends the connections, and stops what runs. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Offers tools as an MCP server. Calls of all clients go through one executor: safe ones side by side, an unsafe one alone,
 * each by the same rules, hooks and limits as anywhere else.
 *
 * @example
 * const { tools } = createTools({ root: process.cwd() })
 * const server = await serveMcp({ tools, permissions: { allow: ['Read', 'Grep'] } })
 */
export async function serveMcp(options: ServeMcpOptions): Promise<ServedMcp> {
  const { tools, transport = 'stdio', permissions, hooks, context, askMs = 300_000, onExecutor } = options
  if (!Array.isArray(tools)) throw new SignalboxError('invalid_option', 'tools must be a list of tools.')
  const sdk = await loadServerSdk()
  const desk = new ToolDesk({
    tools,
    context: { ...context, ...(permissions !== undefined && { permissions }), ...(hooks !== undefined && { hooks }) },
    executor: options.executor ?? {},
    askMs,
    onExecutor: onExecutor ?? (() => undefined),
  })
  const { name = 'signalbox', version = '0.1.0', instructions } = options
  const makeServer = () => mcpServer(sdk, desk, { name, version, instructions })
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
    await desk.close()
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
