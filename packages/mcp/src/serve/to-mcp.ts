import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import { type AnyTool, type ContentBlock, type ToolResultBlock, toolSchemas } from 'signalbox'
import { readField } from '../plain-values.ts'

/** The tools in the form of the protocol. */
export function describeTools(tools: readonly AnyTool[]): Tool[] {
  return toolSchemas(tools).map(({ name, description, input_schema }, at) => ({
    name,
    ...(description !== undefined && { description }),
    inputSchema: input_schema,
    annotations: hintsFor(tools[at] as AnyTool),
  }))
}

/** MCP hints describe a tool, Signalbox's describe a call: only what holds for every input becomes a hint. */
function hintsFor(tool: AnyTool): NonNullable<Tool['annotations']> {
  const readOnlyHint = isReadOnly(tool)
  return { readOnlyHint, destructiveHint: !readOnlyHint, ...(readOnlyHint && { idempotentHint: true }) }
}

function isReadOnly(tool: AnyTool): boolean {
  try {
    return tool.isReadOnly?.({}) === true
  } catch {
    return false
  }
}

type McpContent = CallToolResult['content'][number]

/** Converts a result to the protocol's form; images stay images. */
export function toMcpResult({ content, is_error }: ToolResultBlock): CallToolResult {
  const blocks: McpContent[] = typeof content === 'string' ? [text(content)] : content.map(toContent)
  return { content: blocks, ...(is_error === true && { isError: true }) }
}

/** Removes the error tag, which is for models; in MCP the result has an error flag. */
const text = (words: string): McpContent => ({
  type: 'text',
  text: words.replace(/^<tool_use_error>([\s\S]*)<\/tool_use_error>$/, '$1'),
})

function toContent(block: ContentBlock): McpContent {
  if (typeof block.text === 'string') return text(block.text)
  const data = readField(block.source, 'data')
  const mimeType = readField(block.source, 'media_type')
  if (block.type === 'image' && typeof data === 'string' && typeof mimeType === 'string') {
    return { type: 'image', data, mimeType }
  }
  return text(JSON.stringify(block))
}
