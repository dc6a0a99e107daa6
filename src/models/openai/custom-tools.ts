import type { ToolSchema } from '../../tool/tool-schemas.ts'
import { asList, asRecord, asText } from '../read-event.ts'

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

/** Names of the tools in the options and of those in the request. */
export const toolNames = (own: unknown, tools: readonly { readonly name: string }[]): ReadonlySet<string> =>
  new Set([
    ...asList(own).flatMap((given) => {
      const tool = asRecord(given)
      return [tool, asRecord(tool?.custom), asRecord(tool?.function)].flatMap((each) => asText(each?.name) ?? [])
    }),
    ...tools.map(({ name }) => name),
  ])

/** Is there a tool among the options that runs at the service? */
export const hasServiceTools = (own: unknown): boolean =>
  asList(own).some((tool) => !clientTypes.has(asRecord(tool)?.type))

const clientTypes = new Set<unknown>(['function', 'custom', undefined])
