import type { Tool } from '@modelcontextprotocol/server'
import { type AnyTool, toolSchemas } from 'signalbox'

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
