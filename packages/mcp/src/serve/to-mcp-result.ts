import type { CallToolResult } from '@modelcontextprotocol/server'
import type { ContentBlock, ToolResultBlock } from 'signalbox'
import { readField } from '../plain-values.ts'

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
