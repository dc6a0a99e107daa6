import { readField } from '../../base/read-field.ts'
import type { ModelReplyMessage, QueryMessage } from '../query-message.ts'

export interface ModelUsage {
  requests: number
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
  /** Present if the option `prices` has a price for this model. */
  costUsd?: number
}

/** US dollars per million tokens. */
export interface ModelPrice {
  input: number
  output: number
  /** @default the price of `input` */
  cacheRead?: number | undefined
  /** @default the price of `input` */
  cacheWrite?: number | undefined
}

export interface SessionUsage {
  /** By the name that the service gives its model; `unknown` if it gives none. */
  readonly models: Readonly<Record<string, Readonly<ModelUsage>>>
  /** Requests that failed and were made again. */
  readonly retries: number
  /** Calls that got a result. */
  readonly calls: number
}

/** Sums the usage that the messages of a session report. */
export class UsageTotal {
  readonly #prices: Readonly<Record<string, ModelPrice>>
  readonly #models = new Map<string, ModelUsage>()
  #retries = 0
  #calls = 0

  constructor(prices: Readonly<Record<string, ModelPrice>> = {}) {
    this.#prices = prices
  }

  add(message: QueryMessage): void {
    if (message.type === 'user' && message.sourceToolAssistantUUID !== undefined) this.#calls++
    if (message.type !== 'system') return
    if (message.subtype === 'model_retry') this.#retries++
    if (message.subtype === 'model_reply') this.#addReply(message as ModelReplyMessage)
  }

  get total(): SessionUsage {
    const models = Object.fromEntries([...this.#models].map(([name, usage]) => [name, { ...usage }]))
    return { models, retries: this.#retries, calls: this.#calls }
  }

  #addReply({ model = 'unknown', usage }: ModelReplyMessage): void {
    const before = this.#models.get(model) ?? none
    const tokens = (field: string): number => {
      const value = readField(usage, field)
      return typeof value === 'number' && value >= 0 ? value : 0
    }
    const after: ModelUsage = {
      requests: before.requests + 1,
      inputTokens: before.inputTokens + tokens('input_tokens'),
      outputTokens: before.outputTokens + tokens('output_tokens'),
      cacheReadTokens: before.cacheReadTokens + tokens('cache_read_input_tokens'),
      cacheWriteTokens: before.cacheWriteTokens + tokens('cache_creation_input_tokens'),
    }
    const price = this.#prices[model]
    this.#models.set(model, price === undefined ? after : { ...after, costUsd: costOf(after, price) })
  }
}

const none: ModelUsage = { requests: 0, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }

/** In US dollars. */
export function costOf(
  usage: ModelUsage,
  { input, output, cacheRead = input, cacheWrite = input }: ModelPrice,
): number {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  const millionths = inputTokens * input + outputTokens * output + cacheReadTokens * cacheRead
  return (millionths + cacheWriteTokens * cacheWrite) / 1_000_000
}
