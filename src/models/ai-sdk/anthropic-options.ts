import type { ModelRequest } from '../model.ts'
import { asRecord, asText } from '../read-event.ts'
import { liveContainer } from '../service-ids.ts'

type Fields = Record<string, unknown>

/**
 * The provider options for Anthropic's models. Requests pings, because during long thinking the service sends nothing else.
 * Code that waits for the results of its calls is named by its container.
 */
export function anthropicOptions(own: unknown, container: ModelRequest['container']): Fields {
  const given = asRecord(own)
  const { container: ownContainer, ...fields } = asRecord(given?.anthropic) ?? {}
  const id = asText(asRecord(ownContainer)?.id) ?? liveContainer(container)
  const named = { ...asRecord(ownContainer), ...(id !== undefined && { id }) }
  return {
    ...given,
    anthropic: { includePings: true, ...fields, ...(Object.keys(named).length > 0 && { container: named }) },
  }
}

/** Anthropic's data at the end of a reply, in the fields of the Messages API. */
export function anthropicEnding(metadata: unknown): { stop_details?: unknown; container?: Fields } {
  const { stopDetails, container } = asRecord(asRecord(metadata)?.anthropic) ?? {}
  const { id, expiresAt } = asRecord(container) ?? {}
  return {
    ...(asRecord(stopDetails) !== undefined && { stop_details: stopDetails }),
    ...(asText(id) !== undefined && { container: { id, expires_at: expiresAt } }),
  }
}

/** The start of a reply, which is not content. */
export const isMessageStart = ({ type, kind }: Fields): boolean =>
  type === 'custom' && kind === 'anthropic.message_start'
