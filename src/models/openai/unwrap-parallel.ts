import { asList, asRecord, asText } from '../read-event.ts'

/** A call inside a wrapper; its arguments are text. */
export interface WrappedCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

const wrapperNames = new Set(['parallel', 'multi_tool_use.parallel'])
const prefix = 'functions.'

/** OpenAI's models sometimes wrap several calls into a call of a tool that they were not given. */
export const isParallelWrapper = (name: string, toolNames: ReadonlySet<string> | undefined): boolean =>
  wrapperNames.has(name) && toolNames?.has(name) !== true

/** The calls in the wrapper; undefined if the wrapper is malformed, so that it stays an unknown tool. */
export function unwrapParallel(
  { id, arguments: text }: Omit<WrappedCall, 'name'>,
  toolNames: ReadonlySet<string> | undefined,
): WrappedCall[] | undefined {
  const uses = asList(parsed(text)?.tool_uses)
  const calls = uses.flatMap((use, at): WrappedCall[] => {
    const { recipient_name: recipient, parameters } = asRecord(use) ?? {}
    const name = asText(recipient)?.startsWith(prefix) ? asText((recipient as string).slice(prefix.length)) : undefined
    if (name === undefined || asRecord(parameters) === undefined || toolNames?.has(name) === false) return []
    return [{ id: id === '' ? '' : `${id}_${at}`, name, arguments: JSON.stringify(parameters) }]
  })
  return calls.length > 0 && calls.length === uses.length ? calls : undefined
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return asRecord(JSON.parse(text))
  } catch {
    return undefined
  }
}
