import type { Entry } from './entry.ts'
import type { Body } from './held-bodies.ts'
import type { Played } from './play-story.ts'
import { graceMs, type QueryPlan } from './story.ts'

/** The features of a run, to check that random stories cover everything. */
export function featuresOf({ plan, log, query }: Played): Set<string> {
  const features = new Set<string>()
  for (const entry of log) for (const each of entryFeatures(entry)) features.add(each)
  for (const each of planFeatures(plan)) features.add(each)
  for (const line of query.seen.yields) for (const each of yieldFeatures(line)) features.add(each)
  features.add(`ends: ${query.result?.reason}`)
  const { bodies } = query.bodies
  if (bodies.length > 1) features.add('several bodies')
  if (bodies.some(({ marks }) => marks !== '')) features.add('a changed context is seen')
  if (bodies.some(isGivenUp)) features.add('a body is given up')
  const { calls = Number.POSITIVE_INFINITY } = plan.limits ?? {}
  if (log.filter((entry) => entry.is === 'opens call').length > calls) features.add('a call beyond the limit')
  if (query.seen.requests.length > 1) features.add('several requests')
  if (query.seen.requests.some((line) => line.includes('fallback'))) features.add('the fallback is asked')
  return features
}

const isGivenUp = ({ toldAt, settledAt }: Body): boolean =>
  toldAt !== undefined && (settledAt === undefined || settledAt - toldAt >= graceMs)

function* entryFeatures(entry: Entry): Generator<string> {
  if (entry.is === 'opens call') {
    const { plan } = entry.call
    yield plan.safe ? 'call: safe' : 'call: unsafe'
    yield `call: starts ${plan.startWhen}`
    yield `call: fault ${plan.fault}`
    if (plan.cancel) yield 'call: yields to an interrupt'
    if (plan.cascades) yield 'call: cancels siblings'
    if (plan.asks) yield 'call: asks'
    if (!plan.obedient) yield 'call: ignores its signal'
    if (plan.instant) yield 'call: instant'
    if (entry.call.id !== `c${entry.call.number}`) yield 'call: id of another'
  } else if (entry.is === 'stops') yield `stops: ${entry.reason}`
  else if (entry.is === 'stream breaks') yield `breaks: ${entry.error}${entry.asEvent ? ' as an event' : ''}`
  else if (entry.is === 'answers') yield `answers: ${entry.answer}`
  else if (entry.is === 'aborts' || entry.is === 'host aborts') yield `${entry.is}: ${entry.reason}`
  else if (entry.is === 'opens text') yield entry.isThinking ? 'thinks' : 'says'
  else yield entry.is
}

function* planFeatures(plan: QueryPlan): Generator<string> {
  if (plan.before !== 'nothing') yield `before: ${plan.before}`
  if (plan.isBatch) yield 'batch'
  if (plan.isHooked) yield 'hooks'
  if (plan.prepares !== 'no') yield `prepares ${plan.prepares}`
  if (plan.isNameless) yield 'nameless replies'
  if (plan.isMonotone) yield 'replies with one id'
  if (plan.isDeaf) yield 'deaf streams'
  if (plan.maxTurns < 9) yield 'few turns'
  if (plan.limits !== undefined) yield 'limits'
  if (plan.openings.some((error) => error !== undefined)) yield 'an opening that fails'
}

function* yieldFeatures(line: string): Generator<string> {
  if (line.includes(': retry after')) {
    yield `retry: ${/retry after (\w+)/.exec(line)?.[1]}`
    if (/ began\b/.test(line)) yield 'retry: something had run'
  }
  if (/: result .* error$/.test(line)) yield 'result: error'
  if (/: result .* done$/.test(line)) yield 'result: done'
  if (/: calls new/.test(line)) yield 'a new id'
  if (/: note/.test(line)) yield 'a note of a hook'
}

/** A random test without these would not be worth its time. */
export const expectedFeatures: readonly string[] = [
  'ends: completed',
  'ends: max_turns',
  'ends: hook_stopped',
  'ends: aborted_streaming',
  'ends: aborted_tools',
  'ends: model_error',
  'ends: limit',
  'a call beyond the limit',
  'retry: overloaded',
  'retry: timeout',
  'retry: restarted',
  'retry: something had run',
  'the fallback is asked',
  'several bodies',
  'several requests',
  'a body is given up',
  'a changed context is seen',
  'a new id',
  'a note of a hook',
  'answers: deny and stop',
  'steers',
  'leaves',
]
