import { readField } from '../base/read-field.ts'

/** US dollars per million tokens. */
export interface ModelPrice {
  input: number
  output: number
  /** @default the price of `input` */
  cacheRead?: number | undefined
  /** @default the price of `input` */
  cacheWrite?: number | undefined
}

/** By the name that the service gives its model, or the name that it is asked for. */
export type Prices = Readonly<Record<string, ModelPrice>>

export interface TokenCounts {
  /** Without those that were read from a cache or written to it. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  /** The part of the output that is reasoning, if the service says so. */
  readonly reasoningTokens: number
}

export interface ModelUsage extends TokenCounts {
  /** Requests that were made, failed ones included. */
  readonly requests: number
  /** Requests that failed and were made again. */
  readonly retries: number
  /** Tokens that a limit counts for replies whose usage the service did not report. Absent if there are none. */
  readonly assumedInputTokens?: number
  readonly assumedOutputTokens?: number
  /** Present if the option `prices` has a price for this model. */
  readonly costUsd?: number
}

/** What a run or a session has used, its agents and background calls included. */
export interface RunUsage {
  /** By the name that the service gives its model; `unknown` if it gives none. */
  readonly models: Readonly<Record<string, ModelUsage>>
  /** The sum over all models. Absent if a model that was asked has no price. */
  readonly costUsd?: number
  /** Replies that count. */
  readonly turns: number
  /** Requests that failed and were made again. */
  readonly retries: number
  /** Calls that the models made. */
  readonly calls: number
  /** Agents that were started. */
  readonly agents: number
  /** Milliseconds spent waiting for models, summed over all requests. */
  readonly modelMs: number
  /** Milliseconds spent in the bodies of tools, summed over all calls. An agent counts with what it does. */
  readonly toolMs: number
  /** Milliseconds in which a model, a hook or a body was under way. Measured where `durationMs` is limited. */
  readonly activeMs?: number
}

/** One request: what the service reported, and what is assumed where it did not. */
export interface RequestSpent {
  readonly model: string
  /** The name that the model was asked for, if its adapter says so. */
  readonly asked?: string | undefined
  readonly tokens: TokenCounts
  readonly assumed?: { readonly input: number; readonly output: number } | undefined
  readonly ms: number
  /** The reply counts as a turn. */
  readonly isTurn: boolean
  readonly isRetried: boolean
  /** False for the rest of a request whose first part is counted already. */
  readonly isNew: boolean
}

/** A request that is under way. If its process ends before it does, it has used all that it may use. */
export interface RequestOpened {
  /** One at a time has this number. */
  readonly number: number
  /** The session that made it; absent for a run without a log of its own. */
  readonly by?: string | undefined
  readonly model: string
  readonly assumed: { readonly input: number; readonly output: number }
}

/** The session of an agent, and the reply that made its calls. */
export interface CountedOf {
  readonly session: string
  readonly reply?: string | undefined
}

/** What is added to a total. */
export interface Spent {
  readonly request?: RequestSpent | undefined
  /** Only for logs: counts nothing. */
  readonly opens?: RequestOpened | undefined
  /** The number of the request, if it was opened. */
  readonly closes?: number | undefined
  readonly calls?: number | undefined
  readonly agents?: number | undefined
  /** Only for logs: the agent that is counted, or whose calls of this reply are. Its own log may not know it yet. */
  readonly of?: CountedOf | undefined
  readonly toolMs?: number | undefined
  readonly activeMs?: number | undefined
}

export const noTokens: TokenCounts = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0

/** The counts that a service reported. Anything but a finite number from 0 counts as not reported. */
export function readTokens(usage: unknown): TokenCounts & { readonly hasInput: boolean; readonly hasOutput: boolean } {
  const count = (value: unknown): number => (isCount(value) ? value : 0)
  const input = readField(usage, 'input_tokens')
  const output = readField(usage, 'output_tokens')
  return {
    inputTokens: count(input),
    outputTokens: count(output),
    cacheReadTokens: count(readField(usage, 'cache_read_input_tokens')),
    cacheWriteTokens: count(readField(usage, 'cache_creation_input_tokens')),
    reasoningTokens: count(readField(readField(usage, 'output_tokens_details'), 'thinking_tokens')),
    hasInput: isCount(input),
    hasOutput: isCount(output),
  }
}

/** In US dollars. */
export function costOf(
  { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: TokenCounts,
  { input, output, cacheRead = input, cacheWrite = input }: ModelPrice,
): number {
  const millionths = inputTokens * input + outputTokens * output + cacheReadTokens * cacheRead
  return (millionths + cacheWriteTokens * cacheWrite) / 1_000_000
}

/** The price that no token of this request can exceed. */
export const dearestInput = ({ input, cacheRead = input, cacheWrite = input }: ModelPrice): number =>
  Math.max(input, cacheRead, cacheWrite)

/** The price of a model, by the name in its reply or the name that it was asked for. */
export function priceOf(prices: Prices, model: string, asked: string | undefined): ModelPrice | undefined {
  if (Object.hasOwn(prices, model)) return prices[model]
  return asked !== undefined && Object.hasOwn(prices, asked) ? prices[asked] : undefined
}

type Counted = { -readonly [Field in keyof ModelUsage]: ModelUsage[Field] }

/** A running total. */
export class UsageTotal {
  readonly #hasPrices: boolean
  readonly #prices: Prices
  readonly #otherwise: ModelPrice | undefined
  readonly #models = new Map<string, Counted>()
  turns = 0
  calls = 0
  agents = 0
  modelMs = 0
  toolMs = 0
  activeMs: number | undefined
  /** All input tokens, cached and assumed ones included. */
  inputTokens = 0
  outputTokens = 0
  /** Undefined as soon as a model without a price has been asked. */
  costUsd: number | undefined = 0

  /** @param otherwise the price of a model that has none, where a cost must be known */
  constructor(prices: Prices = {}, otherwise?: ModelPrice) {
    this.#prices = prices
    this.#hasPrices = Object.keys(prices).length > 0
    this.#otherwise = otherwise
  }

  add({ request, calls = 0, agents = 0, toolMs = 0, activeMs }: Spent): void {
    this.calls += calls
    this.agents += agents
    this.toolMs += toolMs
    if (activeMs !== undefined) this.activeMs = (this.activeMs ?? 0) + activeMs
    if (request !== undefined) this.#addRequest(request)
  }

  /** The state of a total that was kept, such as in a log. */
  restore({ models, turns, calls, agents, modelMs, toolMs, activeMs }: RunUsage): void {
    this.add({ calls, agents, toolMs, activeMs })
    this.turns += turns
    this.modelMs += modelMs
    for (const [name, usage] of Object.entries(models)) {
      this.#addTo(name, usage, this.#priceOf(name, undefined, usage.costUsd))
    }
  }

  get usage(): RunUsage {
    const models = Object.fromEntries([...this.#models].map(([name, usage]) => [name, { ...usage }]))
    const { turns, calls, agents, modelMs, toolMs, costUsd, activeMs } = this
    let retries = 0
    for (const usage of this.#models.values()) retries += usage.retries
    // with prices, nothing has cost nothing; without them, nobody asked for the cost
    const isKnown = costUsd !== undefined && (this.#models.size > 0 || this.#hasPrices)
    return {
      models,
      ...(isKnown && { costUsd }),
      turns,
      retries,
      calls,
      agents,
      modelMs,
      toolMs,
      ...(activeMs !== undefined && { activeMs }),
    }
  }

  #addRequest({ model, asked, tokens, assumed, ms, isTurn, isRetried, isNew }: RequestSpent): void {
    if (isTurn) this.turns++
    this.modelMs += ms
    const counts = { requests: isNew ? 1 : 0, retries: isRetried ? 1 : 0 }
    const guess = assumed && { assumedInputTokens: assumed.input, assumedOutputTokens: assumed.output }
    // not a spread: a spread that adds a key is ten times slower
    this.#addTo(model, Object.assign(counts, tokens, guess), this.#priceOf(model, asked, undefined))
  }

  /** A number is a cost that is known already. */
  #priceOf(model: string, asked: string | undefined, known: number | undefined): ModelPrice | number | undefined {
    return known ?? priceOf(this.#prices, model, asked) ?? this.#otherwise
  }

  #addTo(name: string, more: ModelUsage, price: ModelPrice | number | undefined): void {
    const before = this.#models.get(name)
    const total: Counted = before ?? Object.assign({ requests: 0, retries: 0 }, noTokens)
    if (before === undefined) this.#models.set(name, total)
    const { assumedInputTokens: input = 0, assumedOutputTokens: output = 0 } = more
    for (const field of counted) total[field] += more[field]
    if (input > 0) total.assumedInputTokens = (total.assumedInputTokens ?? 0) + input
    if (output > 0) total.assumedOutputTokens = (total.assumedOutputTokens ?? 0) + output
    this.inputTokens += more.inputTokens + more.cacheReadTokens + more.cacheWriteTokens + input
    this.outputTokens += more.outputTokens + output
    const cost = typeof price === 'object' ? costWith(more, input, output, price) : price
    if (cost !== undefined) total.costUsd = (total.costUsd ?? 0) + cost
    this.costUsd = cost === undefined || this.costUsd === undefined ? undefined : this.costUsd + cost
  }
}

const counted = [
  'requests',
  'retries',
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'reasoningTokens',
] as const

const costWith = (tokens: TokenCounts, input: number, output: number, price: ModelPrice): number =>
  costOf(tokens, price) + (input * dearestInput(price) + output * price.output) / 1_000_000
