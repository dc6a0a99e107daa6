import type { Tool } from '@modelcontextprotocol/server'
import { isReadOnly } from '../../pipeline/classify-call.ts'
import type { AnyTool } from '../../tool/tool.ts'
import { toolSchemas } from '../../tool/tool-schemas.ts'

/** Our tools as a client hears of them. */
export function describeTools(tools: readonly AnyTool[]): Tool[] {
  return toolSchemas(tools).map(({ name, description, input_schema }, at) => ({
    name,
    ...(description !== undefined && { description }),
    inputSchema: input_schema,
    annotations: hintsFor(tools[at] as AnyTool),
  }))
}

/** Hints are about a tool, and ours speak of calls: only what holds whatever the input holds for the tool. */
function hintsFor(tool: AnyTool): NonNullable<Tool['annotations']> {
  const readOnlyHint = isReadOnly(tool, {})
  return { readOnlyHint, destructiveHint: !readOnlyHint, ...(readOnlyHint && { idempotentHint: true }) }
}
