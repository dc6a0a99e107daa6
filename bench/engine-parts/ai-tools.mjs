import { tool } from 'ai'

/** The tools in the AI SDK's form. */
export const aiTools = (tools) =>
  Object.fromEntries(
    tools.map(({ name, inputSchema, call }) => [
      name,
      tool({ inputSchema, execute: async (input) => (await call(input)).data }),
    ]),
  )

/** What a part of the answer says about a call that is over. */
export function resultOfPart({ type, toolCallId, output, error }) {
  if (type === 'tool-result') return { type: 'tool_result', tool_use_id: toolCallId, content: output }
  if (type !== 'tool-error') return undefined
  return { type: 'tool_result', tool_use_id: toolCallId, content: String(error), is_error: true }
}
