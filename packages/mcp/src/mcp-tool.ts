import { type AnyTool, defineTool, type Timeout, type ToolResult } from 'signalbox'
import { isMcpFailure, mcpFailure } from './mcp-failure.ts'
import { isRecord, isTooDeep } from './plain-values.ts'
import { type ProgressReport, progressReport } from './progress-report.ts'
import type { McpToolInfo } from './read-tool-list.ts'
import { contentBlocks } from './result-content.ts'
import { checkValue } from './schema/check-value.ts'
import { inputSchemaFor } from './schema/input-schema.ts'
import type { McpServerConfig } from './server-config.ts'

/** Result data for user interfaces: what the server sent, and what is wrong with it. */
export interface McpResultData {
  readonly server: string
  readonly tool: string
  readonly content: readonly unknown[]
  readonly structuredContent?: unknown
  readonly isError: boolean
  /** How the result violates the server's own output schema. */
  readonly problem?: string
  /** The call was stopped before the server answered; `content` is the progress it had reported. */
  readonly isStopped?: true
}

/** How a call reaches its server. */
export type CallServer = (tool: string, input: Record<string, unknown>, by: Asker) => Promise<Record<string, unknown>>

/** On whose behalf a server is asked. */
export interface Asker {
  /** The call that caused the request, if any. */
  readonly toolUseID: string
  readonly signal: AbortSignal
  readonly progress?: ProgressReport | undefined
}

const attempts = 2
const defaultTimeout: Timeout = { totalMs: 600_000, idleMs: 120_000 }

/** Converts a server's tool to a Signalbox tool. */
export function mcpTool(
  server: string,
  name: string,
  info: McpToolInfo,
  config: McpServerConfig,
  callServer: CallServer,
): AnyTool {
  const override = config.tools !== undefined && Object.hasOwn(config.tools, info.name) ? config.tools[info.name] : {}
  const trusts = config.trust !== 'none'
  const isSafe = override?.isSafe ?? (trusts && info.hints.isReadOnly)
  const isRepeatable = isSafe || (override?.isIdempotent ?? (trusts && info.hints.isIdempotent))
  const { resources } = override ?? {}
  const asks = override?.asks ?? info.hints.isDestructive
  const tool = defineTool({
    name,
    ...(info.description !== undefined && { description: info.description }),
    inputSchema: inputSchemaFor(info.inputSchema),
    inputJSONSchema: info.inputSchema,
    isConcurrencySafe: () => isSafe,
    isReadOnly: () => isSafe,
    ...(resources !== undefined && { resources: () => resources }),
    interruptBehavior: () => (isSafe ? 'cancel' : 'block'),
    ...(asks && {
      checkPermissions: () =>
        ({ behavior: 'ask', message: `The server ${server} declares ${info.name} as destructive.` }) as const,
    }),
    timeout: config.timeout ?? defaultTimeout,
    retry: {
      attempts,
      backoffMs: (failed) => 100 * 2 ** (failed - 1),
      when: (error) => isMcpFailure(error) && (error.isUndone || (isRepeatable && error.isTransport)),
    },
    async call(input, { abortController: { signal }, toolUseID }, _ask, _message, onProgress) {
      const progress = progressReport(signal, onProgress)
      try {
        const answer = await callServer(info.name, input, { toolUseID, signal, progress })
        return { data: readResult(server, info, answer) }
      } catch (error) {
        const stopped = signal.aborted && !isUndone(error) ? progress.whenStopped(server) : undefined
        // without `interrupted`: only the server knows how far it came
        if (stopped !== undefined) return stoppedResult(server, info, stopped)
        throw isSafe ? error : saysItMayHaveRun(error)
      }
    },
    mapResult: (data, id) => {
      const blocks = contentBlocks(data.content, data.structuredContent)
      if (data.problem !== undefined) blocks.unshift({ type: 'text', text: data.problem })
      if (blocks.length === 0) blocks.push({ type: 'text', text: '(no output)' })
      const isOneText = blocks.length === 1 && typeof blocks[0]?.text === 'string'
      return {
        type: 'tool_result',
        tool_use_id: id,
        content: isOneText ? (blocks[0]?.text as string) : blocks,
        ...((data.isError || data.problem !== undefined) && { is_error: true }),
      }
    },
  })
  return tool as AnyTool
}

const isUndone = (error: unknown): boolean => isMcpFailure(error) && error.isUndone

const stoppedResult = (server: string, { name: tool }: McpToolInfo, text: string): ToolResult<McpResultData> => ({
  data: { server, tool, content: [{ type: 'text', text }], isError: true, isStopped: true },
})

/** A call whose response was lost may have run, and must not be repeated by mistake. */
function saysItMayHaveRun(error: unknown): unknown {
  if (!isMcpFailure(error) || !error.isTransport || error.isUndone) return error
  const message = `${error.message} The call may have run. Check its effects before you repeat it.`
  return mcpFailure(message, { isBroken: error.isBroken, isTransport: true })
}

const tooDeep = { type: 'text', text: '[Content omitted: it nests too deeply.]' } as const

/** Invalid results are passed on complete, with a note. */
function readResult(server: string, info: McpToolInfo, answer: Record<string, unknown>): McpResultData {
  const { content, isError } = answer
  const isReadable = !isTooDeep(answer.structuredContent)
  const structuredContent = isReadable ? answer.structuredContent : undefined
  const given: unknown[] = Array.isArray(content) ? content : content === undefined ? [] : [content]
  const list = [...given.map((item) => (isTooDeep(item) ? tooDeep : item)), ...(isReadable ? [] : [tooDeep])]
  const problem = isError === true ? undefined : problemOf(server, info, list, structuredContent)
  return {
    server,
    tool: info.name,
    content: list,
    ...(structuredContent !== undefined && { structuredContent }),
    isError: isError === true,
    ...(problem !== undefined && { problem }),
  }
}

function problemOf(
  server: string,
  { name, outputSchema }: McpToolInfo,
  content: readonly unknown[],
  structured: unknown,
): string | undefined {
  if (outputSchema === undefined) return undefined
  const claim = `The server ${server} violates the output schema of ${name}`
  if (structured === undefined) {
    return `${claim}: it sent no structured content.${content.length > 0 ? ' Its other content follows.' : ''}`
  }
  const fit = checkValue(outputSchema, structured)
  if (fit.verdict !== 'unfit') return undefined
  const [issue] = fit.issues
  const where = issue === undefined || issue.path.length === 0 ? 'the content' : issue.path.join('.')
  return `${claim}: ${where} ${wordsFor(issue)}. The result follows as sent.`
}

function wordsFor(issue: Record<string, unknown> | undefined): string {
  if (!isRecord(issue)) return 'is invalid'
  if (issue.code === 'invalid_type') return `should be ${issue.expected}`
  if (issue.code === 'unrecognized_keys') return `has unknown keys: ${(issue.keys as string[]).slice(0, 10).join(', ')}`
  return String(issue.message)
}
