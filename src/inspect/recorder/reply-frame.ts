import { readField } from '../../base/read-field.ts'
import { costOf, type ModelPrice } from '../../query/session/usage.ts'
import type { ReplyFrame } from '../frames/frame.ts'

/** A finished reply, as the service reports it. */
export interface ModelReply {
  readonly model?: unknown
  readonly stopReason?: unknown
  readonly usage?: unknown
}

export function replyFrame(
  { model, stopReason, usage }: ModelReply,
  prices: Readonly<Record<string, ModelPrice>>,
): ReplyFrame {
  const count = (field: string): number => {
    const value = readField(usage, field)
    return typeof value === 'number' && value >= 0 ? value : 0
  }
  const tokens = {
    input: count('input_tokens'),
    output: count('output_tokens'),
    cacheRead: count('cache_read_input_tokens'),
    cacheWrite: count('cache_creation_input_tokens'),
  }
  const name = typeof model === 'string' ? model : null
  const price = name !== null && Object.hasOwn(prices, name) ? prices[name] : undefined
  const { input: inputTokens, output: outputTokens, cacheRead: cacheReadTokens, cacheWrite: cacheWriteTokens } = tokens
  const used = { requests: 1, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }
  return {
    type: 'reply',
    model: name,
    stopReason: typeof stopReason === 'string' ? stopReason : '',
    tokens,
    ...(price !== undefined && { costUsd: costOf(used, price) }),
  }
}
