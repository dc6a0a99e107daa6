import { outcomeOf } from '../words.ts'
import type { Model } from './model.ts'
import { isIn, type TimeRange } from './time-range.ts'

/** The numbers of everything that happened between two moments. */
export interface RangeTotals {
  readonly ms: number
  readonly started: number
  readonly ended: number
  /** Of those that ended, the ones with an error or an abort. */
  readonly failed: number
  readonly aborts: number
  readonly refusals: number
  readonly tokens: number
  /** Undefined if no reply has a price. */
  readonly costUsd: number | undefined
}

export function rangeTotals({ runs }: Model, range: TimeRange): RangeTotals {
  let [started, ended, failed, aborts, refusals, tokens] = [0, 0, 0, 0, 0, 0]
  let costUsd: number | undefined
  const isThen = (at: number | undefined): boolean => at !== undefined && isIn(range, at)
  for (const run of runs.values()) {
    for (const call of run.calls) {
      if (isThen(call.startedAt)) started++
      if (!isThen(call.completedAt)) continue
      ended++
      if (outcomeOf(call) !== 'ok') failed++
    }
    aborts += run.aborts.filter(({ at }) => isThen(at)).length
    refusals += run.refusals.filter(({ at }) => isThen(at)).length
    for (const { at, tokens: each, costUsd: cost } of run.replies) {
      if (!isThen(at)) continue
      tokens += each.input + each.output + each.cacheRead + each.cacheWrite
      if (cost !== undefined) costUsd = (costUsd ?? 0) + cost
    }
  }
  return { ms: range[1] - range[0], started, ended, failed, aborts, refusals, tokens, costUsd }
}
