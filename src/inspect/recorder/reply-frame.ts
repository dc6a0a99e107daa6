import { costOf, type Prices, priceOf, readTokens } from '../../usage/usage-total.ts'
import type { ReplyFrame } from '../frames/frame.ts'

/** A finished reply, as the service reports it. */
export interface ModelReply {
  readonly model?: unknown
  readonly stopReason?: unknown
  readonly usage?: unknown
}

export function replyFrame({ model, stopReason, usage }: ModelReply, prices: Prices): ReplyFrame {
  const used = readTokens(usage)
  const { inputTokens: input, outputTokens: output, cacheReadTokens: cacheRead, cacheWriteTokens: cacheWrite } = used
  const tokens = { input, output, cacheRead, cacheWrite }
  const name = typeof model === 'string' ? model : null
  const price = name === null ? undefined : priceOf(prices, name, undefined)
  return {
    type: 'reply',
    model: name,
    stopReason: typeof stopReason === 'string' ? stopReason : '',
    tokens,
    ...(price !== undefined && { costUsd: costOf(used, price) }),
  }
}
