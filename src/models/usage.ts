import { asRecord } from './read-event.ts'

const count = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0)

/** The AI SDK's usage in the fields of the Messages API. It is plain numbers in v2, and an object since v3. */
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

/** OpenAI's usage in the fields of the Messages API, whose input tokens exclude tokens read from a cache. */
export function openaiUsage(given: unknown): Record<string, unknown> | undefined {
  const usage = asRecord(given)
  if (usage === undefined) return undefined
  const input = count(usage.input_tokens ?? usage.prompt_tokens)
  const cached = count((asRecord(usage.input_tokens_details) ?? asRecord(usage.prompt_tokens_details))?.cached_tokens)
  const details = asRecord(usage.output_tokens_details) ?? asRecord(usage.completion_tokens_details)
  return {
    input_tokens: Math.max(input - cached, 0),
    cache_read_input_tokens: cached,
    output_tokens: count(usage.output_tokens ?? usage.completion_tokens),
    output_tokens_details: { thinking_tokens: count(details?.reasoning_tokens) },
  }
}
