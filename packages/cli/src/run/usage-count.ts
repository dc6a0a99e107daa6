import type { RunUsage } from 'signalbox'

/** Dollars per million tokens. */
export interface Price {
  readonly input: number
  readonly output: number
  readonly cacheRead?: number | undefined
  readonly cacheWrite?: number | undefined
}

export interface TokenUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  /** In dollars; undefined if the model's price is unknown. */
  readonly costUSD: number | undefined
}

// https://platform.claude.com/docs/en/about-claude/pricing; a write to the cache costs 1.25 times the input
const known: readonly [name: RegExp, input: number, output: number, cacheRead: number][] = [
  [/^claude-fable-5-1/, 10, 50, 0.25],
  [/^claude-fable-5/, 10, 50, 1],
  [/^claude-opus-5-5/, 4, 20, 0.2],
  [/^claude-opus-(?:5|4-[5-8])/, 5, 25, 0.5],
  [/^claude-sonnet-5-5/, 2, 10, 0.1],
  [/^claude-sonnet-5/, 2, 10, 0.2],
  [/^claude-sonnet-4/, 3, 15, 0.3],
  [/^claude-haiku-4-5/, 1, 5, 0.1],
]

type FullPrice = { readonly [Name in keyof Price]-?: number }

function priceOf(model: string, prices: Readonly<Record<string, Price>>): FullPrice | undefined {
  const own = Object.hasOwn(prices, model) ? prices[model] : undefined
  if (own !== undefined) {
    return { ...own, cacheRead: own.cacheRead ?? own.input * 0.1, cacheWrite: own.cacheWrite ?? own.input * 1.25 }
  }
  const found = known.find(([name]) => name.test(model))
  if (found === undefined) return undefined
  const [, input, output, cacheRead] = found
  return { input, output, cacheRead, cacheWrite: input * 1.25 }
}

/** The given prices, and that of the model, if it is known. */
export function pricesFor(model: string, prices: Readonly<Record<string, Price>> = {}): Record<string, FullPrice> {
  const named = [...new Set([...Object.keys(prices), model])]
  return Object.fromEntries(
    named.flatMap((name) => {
      const price = priceOf(name, prices)
      return price === undefined ? [] : [[name, price]]
    }),
  )
}

/** Tokens and cost of a session. */
export class UsageCount {
  readonly #prices: Readonly<Record<string, Price>>
  #tokens = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
  #cost: number | undefined = 0
  #isAny = false

  constructor(prices: Readonly<Record<string, Price>> = {}) {
    this.#prices = prices
  }

  /** @param usage as reported by the service, in the form of the Messages API */
  add(model: string, usage: unknown): void {
    const given = Object(usage) as Record<string, unknown>
    const count = (name: string): number => {
      const value = given[name]
      return typeof value === 'number' && value > 0 ? value : 0
    }
    const [input, output] = [count('input_tokens'), count('output_tokens')]
    const [read, written] = [count('cache_read_input_tokens'), count('cache_creation_input_tokens')]
    if (input + output + read + written === 0) return
    this.#isAny = true
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = this.#tokens
    this.#tokens = {
      inputTokens: inputTokens + input,
      outputTokens: outputTokens + output,
      cacheReadTokens: cacheReadTokens + read,
      cacheWriteTokens: cacheWriteTokens + written,
    }
    const price = priceOf(model, this.#prices)
    if (price === undefined || this.#cost === undefined) this.#cost = undefined
    else {
      const sum = input * price.input + output * price.output + read * price.cacheRead + written * price.cacheWrite
      this.#cost += sum / 1_000_000
    }
  }

  /** A whole run with its agents. A model without a price of its own name has the price of the one that was asked for. */
  addRun({ models }: RunUsage, asked: string): void {
    for (const [name, { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }] of Object.entries(models)) {
      this.add(priceOf(name, this.#prices) === undefined ? asked : name, {
        input_tokens: inputTokens,
        output_tokens: outputTokens,
        cache_read_input_tokens: cacheReadTokens,
        cache_creation_input_tokens: cacheWriteTokens,
      })
    }
  }

  get total(): TokenUsage | undefined {
    return this.#isAny ? { ...this.#tokens, costUSD: this.#cost } : undefined
  }
}

/** `12,345 tokens in (10,000 cached), 678 out, $0.0312` */
export function usageWords({
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
  costUSD,
}: TokenUsage): string {
  const all = (inputTokens + cacheReadTokens + cacheWriteTokens).toLocaleString('en-US')
  const cached = cacheReadTokens > 0 ? ` (${cacheReadTokens.toLocaleString('en-US')} cached)` : ''
  const cost = costUSD === undefined ? '' : `, $${costUSD.toFixed(costUSD < 1 ? 4 : 2)}`
  return `${all} tokens in${cached}, ${outputTokens.toLocaleString('en-US')} out${cost}`
}
