import { resultTexts } from '../results/result-texts.ts'
import { isRecord } from '../text/is-record.ts'
import { defineTool } from '../tool/define-tool.ts'
import type { AnyTool, OnProgress, Timeout } from '../tool/tool.ts'
import { isTooDeep } from './is-too-deep.ts'
import { isMcpFailure } from './mcp-failure.ts'
import type { McpToolInfo } from './read-tool-list.ts'
import { contentBlocks } from './result-content.ts'
import { checkValue } from './schema/check-value.ts'
import { inputSchemaFor } from './schema/input-schema.ts'
import type { McpServerConfig } from './server-config.ts'

/** What a call of a server's tool leaves for user interfaces: what the server sent, and what is wrong with it. */
export interface McpResultData {
  readonly server: string
  readonly tool: string
  readonly content: readonly unknown[]
  readonly structuredContent?: unknown
  readonly isError: boolean
  /** Where the server does not keep to its own output schema. */
  readonly problem?: string
}

/** How a call reaches its server. */
export type CallServer = (tool: string, input: Record<string, unknown>, by: Asker) => Promise<Record<string, unknown>>

/** On whose behalf something is asked of a server. */
export interface Asker {
  /** The call, where one is the reason. */
  readonly toolUseID: string
  readonly signal: AbortSignal
  readonly onProgress?: OnProgress | undefined
}

const attempts = 2
const defaultTimeout: Timeout = { totalMs: 600_000, idleMs: 120_000 }

/** A tool of a server as one of ours. */
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
  const asks = override?.asks ?? info.hints.isDestructive
  const tool = defineTool({
    name,
    ...(info.description !== undefined && { description: info.description }),
    inputSchema: inputSchemaFor(info.inputSchema),
    inputJSONSchema: info.inputSchema,
    isConcurrencySafe: () => isSafe,
    isReadOnly: () => isSafe,
    interruptBehavior: () => (isSafe ? 'cancel' : 'block'),
    ...(asks && {
      checkPermissions: () =>
        ({ behavior: 'ask', message: `The server ${server} says that ${info.name} may destroy something.` }) as const,
    }),
    timeout: config.timeout ?? defaultTimeout,
    retry: {
      attempts,
      backoffMs: (failed) => 100 * 2 ** (failed - 1),
      when: (error) => isMcpFailure(error) && (error.isUndone || (isRepeatable && error.isTransport)),
    },
    async call(input, { abortController: { signal }, toolUseID }, _ask, _message, onProgress) {
      const answer = await callServer(info.name, input, { toolUseID, signal, onProgress })
      return { data: readResult(server, info, answer) }
    },
    mapResult: (data, id) => {
      const blocks = contentBlocks(data.content, data.structuredContent)
      if (data.problem !== undefined) blocks.unshift({ type: 'text', text: data.problem })
      if (blocks.length === 0) blocks.push({ type: 'text', text: resultTexts.noOutput() })
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

const tooDeep = { type: 'text', text: '[Content that nests too deep to be read.]' } as const

/** Nothing of what came is lost, whatever is wrong with it. */
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
  const claim = `The server ${server} does not keep to the output schema of ${name}`
  if (structured === undefined) {
    return `${claim}: it sent no structured content.${content.length > 0 ? ' What it sent instead follows.' : ''}`
  }
  const fit = checkValue(outputSchema, structured)
  if (fit.verdict !== 'unfit') return undefined
  const [issue] = fit.issues
  const where = issue === undefined || issue.path.length === 0 ? 'the content' : issue.path.join('.')
  return `${claim}: ${where} ${wordsFor(issue)}. What it sent follows.`
}

function wordsFor(issue: Record<string, unknown> | undefined): string {
  if (!isRecord(issue)) return 'does not fit'
  if (issue.code === 'invalid_type') return `should be ${issue.expected}`
  if (issue.code === 'unrecognized_keys')
    return `has keys that it should not have: ${(issue.keys as string[]).slice(0, 10).join(', ')}`
  return String(issue.message)
}
