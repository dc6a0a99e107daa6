import type { ToolSchema } from '../../tool/tool-schemas.ts'
import { asList, asRecord, asText } from '../read-event.ts'

/** The names of the custom tools among the tools in a model's options. */
export const customToolNames = (tools: unknown): ReadonlySet<string> =>
  new Set(
    asList(tools).flatMap((given) => {
      const tool = asRecord(given)
      if (tool?.type !== 'custom') return []
      return asText(tool.name) ?? asText(asRecord(tool.custom)?.name) ?? []
    }),
  )

/** Removes tools that the options already describe in the service's own form. */
export const notCustom = (tools: readonly ToolSchema[], customTools: ReadonlySet<string>): readonly ToolSchema[] =>
  tools.filter(({ name }) => !customTools.has(name))

/** The names of the tools in the options and in the request. */
export const toolNames = (own: unknown, tools: readonly { readonly name: string }[]): ReadonlySet<string> =>
  new Set([
    ...asList(own).flatMap((given) => {
      const tool = asRecord(given)
      return [tool, asRecord(tool?.custom), asRecord(tool?.function)].flatMap((each) => asText(each?.name) ?? [])
    }),
    ...tools.map(({ name }) => name),
  ])

/** Whether the options contain a tool that runs at the service. */
export const hasServiceTools = (own: unknown): boolean =>
  asList(own).some((tool) => !clientTypes.has(asRecord(tool)?.type))

const clientTypes = new Set<unknown>(['function', 'custom', undefined])
