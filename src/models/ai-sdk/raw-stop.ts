import { asIndex, asList, asRecord, asText } from '../read-event.ts'
import { openaiUsage } from '../usage.ts'

/** A service's own report of the end of its reply, before the AI SDK passes it on. */
export interface RawStop {
  /** The AI SDK's word for the reason. */
  readonly unified: string
  /** The service's own word. */
  readonly raw?: string
  readonly usage?: Record<string, unknown> | undefined
}

type Fields = Record<string, unknown>

const unifiedReasons: Readonly<Record<string, string>> = {
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  MAX_TOKENS: 'length',
  content_filter: 'content-filter',
  refusal: 'content-filter',
  SAFETY: 'content-filter',
  error: 'error',
}

/**
 * Reads the end of a reply from what the service sent, merged with what is known of it. Most providers pass it on only
 * when the connection ends, which some connections never do.
 */
export function rawStop(value: unknown, before: RawStop | undefined): RawStop | undefined {
  const raw = asRecord(value)
  if (raw === undefined) return before
  const reason = ownReason(raw)
  const usage = ownUsage(raw) ?? before?.usage
  if (reason === undefined) return before && { ...before, usage }
  return { unified: unifiedReasons[reason] ?? 'stop', raw: reason, usage }
}

function ownReason(raw: Fields): string | undefined {
  const { type } = raw
  if (type === 'message_delta') return asText(asRecord(raw.delta)?.stop_reason)
  if (type === 'response.completed' || type === 'response.incomplete') {
    const { incomplete_details, status } = asRecord(raw.response) ?? {}
    return asText(asRecord(incomplete_details)?.reason) ?? (status === 'incomplete' ? 'max_output_tokens' : 'stop')
  }
  const choice = firstOf(raw.choices) ?? firstOf(raw.candidates)
  return asText(choice?.finish_reason) ?? asText(choice?.finishReason)
}

const firstOf = (choices: unknown): Fields | undefined =>
  asList(choices)
    .map(asRecord)
    .find((each) => each !== undefined && (asIndex(each.index) ?? 0) === 0)

/** In the fields of the Messages API, which Anthropic's own usage has already. */
function ownUsage(raw: Fields): Fields | undefined {
  if (raw.type === 'message_delta') return asRecord(raw.usage)
  return openaiUsage(raw.usage ?? asRecord(raw.response)?.usage)
}
