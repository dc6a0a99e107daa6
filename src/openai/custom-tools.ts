import { inputText } from '../model/api-content.ts'
import { asList, asRecord, asText } from '../model/read-event.ts'
import type { ToolSchema } from '../tool/tool-schemas.ts'

/** Names of the custom tools among the tools in the options of a model. */
export const customToolNames = (tools: unknown): ReadonlySet<string> =>
  new Set(
    asList(tools).flatMap((given) => {
      const tool = asRecord(given)
      if (tool?.type !== 'custom') return []
      return asText(tool.name) ?? asText(asRecord(tool.custom)?.name) ?? []
    }),
  )

/** Tools that the options describe in the service's own form need no other description. */
export const notCustom = (tools: readonly ToolSchema[], customTools: ReadonlySet<string>): readonly ToolSchema[] =>
  tools.filter(({ name }) => !customTools.has(name))

/** The text that a custom tool got, out of the input that Signalbox made of it. */
export const customInput = (input: unknown): string => {
  const text = asRecord(input)?.input
  return typeof text === 'string' ? text : inputText(input)
}
