import { asRecord } from '../read-event.ts'

const count = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0)

/** Converts usage to the fields of the Messages API. It is plain numbers in v2, and an object since v3. */
export function aiSdkUsage(given: unknown): Record<string, unknown> | undefined {
  const usage = asRecord(given)
  if (usage === undefined) return undefined
  const input = asRecord(usage.inputTokens)
  const output = asRecord(usage.outputTokens)
  const read = count(input?.cacheRead ?? usage.cachedInputTokens)
  const write = count(input?.cacheWrite)
  const total = count(input === undefined ? usage.inputTokens : input.total)
  return {
    input_tokens: typeof input?.noCache === 'number' ? input.noCache : Math.max(total - read - write, 0),
    cache_read_input_tokens: read,
    cache_creation_input_tokens: write,
    output_tokens: count(output === undefined ? usage.outputTokens : output.total),
    output_tokens_details: { thinking_tokens: count(output?.reasoning ?? usage.reasoningTokens) },
  }
}
