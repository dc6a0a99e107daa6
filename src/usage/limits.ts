import { type LimitName, limitNames } from '../../machines/index.ts'
import { describeValue } from '../base/describe-value.ts'
import { invalidOption, unknownOption } from '../base/invalid-option.ts'
import { aNumberFrom, anIntegerFrom, checkOption, infinity, or } from '../base/option-rules.ts'
import { SignalboxError } from '../base/signalbox-error.ts'
import type { Model } from '../models/model.ts'
import { type ModelPrice, type Prices, priceOf } from './usage-total.ts'

/** Limits on a run or a session with everything inside it. A limit that is reached ends all of it. */
export interface Limits {
  /** Replies of all models. */
  turns?: number | undefined
  /** Calls of all models. */
  calls?: number | undefined
  /** Cached tokens included. */
  inputTokens?: number | undefined
  outputTokens?: number | undefined
  /** In US dollars. Needs `prices`. */
  costUsd?: number | undefined
  /** How long a model, a hook or a body may be under way. Waiting for a person does not count. */
  durationMs?: number | undefined
  /** How many agents may be started. */
  agents?: number | undefined
  /** How deep agents may be inside agents: 1 means that agents start no agents. */
  depth?: number | undefined
}

const counts = new Set<LimitName>(['turns', 'calls', 'agents', 'depth'])
const aCount = or(anIntegerFrom(0), infinity)

/** Checked on entry, so that an invalid limit throws at the call that passed it. */
export function checkLimits(limits: Limits | undefined, prices: Prices | undefined): void {
  if (prices !== undefined) checkPrices(prices)
  if (limits === undefined) return
  if (typeof limits !== 'object' || limits === null || Array.isArray(limits))
    invalidOption('limits', 'an object of limits', limits)
  for (const [name, max] of Object.entries(limits)) {
    if (!(limitNames as readonly string[]).includes(name)) unknownOption(`limits.${name}`, limitNames)
    checkOption(`limits.${name}`, max, counts.has(name as LimitName) ? aCount : aNumberFrom(0))
  }
  if (isSet(limits.costUsd) && Object.keys(prices ?? {}).length === 0) {
    invalidOption('prices', 'a price for each model, because limits.costUsd is set', prices)
  }
}

/** Infinity is no limit. */
export const isSet = (max: number | undefined): boolean => max !== undefined && max !== Number.POSITIVE_INFINITY

function checkPrices(prices: Prices): void {
  if (typeof prices !== 'object' || prices === null) invalidOption('prices', 'an object of prices by model', prices)
  for (const [name, price] of Object.entries(prices)) {
    const { input, output, cacheRead = 0, cacheWrite = 0 } = Object(price) as ModelPrice
    const isFit = [input, output, cacheRead, cacheWrite].every((each) => Number.isFinite(each) && each >= 0)
    if (!isFit) invalidOption(`prices[${JSON.stringify(name)}]`, '{ input, output } in US dollars per million', price)
  }
}

/** A request can be measured only if its model says how long a reply may be and, for a cost, what it costs. */
export function checkModel(
  model: Model | undefined,
  { needsOutput, needsCost }: { needsOutput: boolean; needsCost: boolean },
  prices: Prices,
): void {
  if (model === undefined || !(needsOutput || needsCost)) return
  const { name, maxOutputTokens } = model.info ?? {}
  if (maxOutputTokens === undefined || !(maxOutputTokens > 0)) {
    throw new SignalboxError(
      'invalid_option',
      `limits.${needsOutput ? 'outputTokens' : 'costUsd'} needs the most tokens that a reply may have. Set the adapter's option (max_tokens, max_completion_tokens, max_output_tokens or maxOutputTokens), or info: { maxOutputTokens } of your own model; received ${describeValue(maxOutputTokens, 40)}.`,
    )
  }
  if (needsCost && name !== undefined && priceOf(prices, name, undefined) === undefined) {
    throw new SignalboxError(
      'invalid_option',
      `limits.costUsd needs the price of the model ${JSON.stringify(name)}. Known prices: ${Object.keys(prices).join(', ')}. Add it to prices.`,
    )
  }
}

/** The highest price for each kind of token: what a model without a price may cost. */
export function dearest(prices: Prices): ModelPrice | undefined {
  const all = Object.values(prices)
  if (all.length === 0) return undefined
  const most = (pick: (price: ModelPrice) => number): number => Math.max(...all.map(pick))
  return {
    input: most(({ input }) => input),
    output: most(({ output }) => output),
    cacheRead: most(({ input, cacheRead = input }) => cacheRead),
    cacheWrite: most(({ input, cacheWrite = input }) => cacheWrite),
  }
}
