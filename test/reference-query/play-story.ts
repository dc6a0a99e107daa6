import { flush } from '../support/turn.ts'
import { type Entry, entryInWords } from './entry.ts'
import { faultsOf } from './invariants.ts'
import { type Prediction, predict } from './predict.ts'
import { QueryUnderTest } from './query-under-test.ts'
import { Script } from './script.ts'
import { planInWords, type QueryPlan, type Story } from './story.ts'

/** More steps than any story needs to end: a query that needs more hangs. */
const maxEndSteps = 150

export interface Played {
  readonly plan: QueryPlan
  readonly log: readonly Entry[]
  readonly query: QueryUnderTest
  readonly prediction: Prediction
}

/** Plays a story on the query, lets the reference predict it from its log, and throws if they differ. */
export async function playStory({ plan, moves }: Story): Promise<Played> {
  const calls = moves.flatMap((move) => (move.do === 'call' ? [move.plan] : []))
  const ids = new Set<string>()
  const query = new QueryUnderTest(plan, calls, ids)
  const script = new Script(plan, query, ids)
  const log: Entry[] = []

  async function play(entries: Iterable<Entry>): Promise<void> {
    for (const entry of entries) {
      if (query.result !== undefined) return
      log.push(entry)
      query.do(entry)
      await flush()
    }
  }

  query.read()
  await flush()
  for (const move of moves) {
    await play(script.entriesFor(move))
  }
  for (let step = 0; step < maxEndSteps && query.result === undefined; step++) await play(script.nextToEnd())
  const prediction = predict(plan, log)
  const found = [...differences(query, prediction), ...(await faultsOf(query))]
  if (found.length === 0) return { plan, log, query, prediction }
  const told = log.map((entry, at) => `${at + 1}. ${entryInWords(entry)}`)
  throw new Error([planInWords(plan), ...told, ...found].join('\n'))
}

function differences(query: QueryUnderTest, expected: Prediction): string[] {
  const transcript = query.names.inShort(query.run.transcript)
  return [
    ...difference('ends with', [String(expected.reason)], [String(query.result?.reason)]),
    ...difference('bodies', expected.starts, query.seen.starts),
    ...difference('requests', expected.requests, query.seen.requests),
    ...difference('yields', expected.yields, query.seen.yields),
    ...difference('transcript', expected.transcript, transcript),
  ]
}

/** From the first different line on. */
function difference(what: string, expected: readonly string[], actual: readonly string[]): string[] {
  const at = expected.findIndex((line, index) => line !== actual[index])
  const from = at < 0 ? expected.length : at
  if (at < 0 && actual.length === expected.length) return []
  return [
    `${what}, from line ${from + 1}: expected ${JSON.stringify(expected.slice(from, from + 3))}`,
    `${' '.repeat(what.length)}  but was ${JSON.stringify(actual.slice(from, from + 3))}`,
  ]
}
