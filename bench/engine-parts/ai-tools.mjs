import { tool } from 'ai'

/** Converts the tools to the AI SDK's format. */
export const aiTools = (tools) =>
  Object.fromEntries(
    tools.map(({ name, inputSchema, call }) => [
      name,
      tool({ inputSchema, execute: async (input) => (await call(input)).data }),
    ]),
  )

/** The result of a finished call in a stream part. */
export function resultOfPart({ type, toolCallId, output, error }) {
  if (type === 'tool-result') return { type: 'tool_result', tool_use_id: toolCallId, content: output }
  if (type !== 'tool-error') return undefined
  return { type: 'tool_result', tool_use_id: toolCallId, content: String(error), is_error: true }
}
