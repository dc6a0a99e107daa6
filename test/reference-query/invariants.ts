import { type Message, toApiMessages } from '../../src/index.ts'
import { checkTranscript } from '../../src/transcripts/index.ts'
import { flush } from '../support/turn.ts'
import { invalidity } from './api-validity.ts'
import type { QueryUnderTest } from './query-under-test.ts'
import type { PlannedLimits } from './story.ts'

/** Conditions that must hold after every story. */
export async function faultsOf(query: QueryUnderTest): Promise<string[]> {
  const { run, bodies, streams } = query
  if (query.result === undefined) return ['the query hangs', ...query.faults, ...bodies.faults]
  const faults = [...query.faults, ...bodies.faults]
  const fault = (isOne: boolean, what: string): void => {
    if (isOne) faults.push(what)
  }
  const { transcript } = run
  const problem = invalidity(toApiMessages(transcript))
  fault(problem !== undefined, `the transcript is not valid: ${problem}`)
  const check = checkTranscript(transcript)
  fault(!check.ok, `checkTranscript: ${JSON.stringify(check)}`)
  const kept = query.names.inShort(transcript).slice(1)
  const given = query.names.inShort(query.yielded as Message[])
  fault(!query.hasLeft && inAnyOrder(given) !== inAnyOrder(kept), `yielded: ${given}\nkept: ${kept}`)
  fault(bodies.bodies.some(bodies.isLive), 'a body runs on after the end')
  for (const [limit, used] of Object.entries(usedBy(query))) {
    const max = query.limits?.[limit as keyof PlannedLimits] ?? Number.POSITIVE_INFINITY
    fault(used > max, `${used} of ${max} ${limit} are used`)
  }
  fault(query.clock.pending.size > 0, `${query.clock.pending.size} timers after the end`)
  fault(query.hostListeners > 0, `${query.hostListeners} listeners after the end`)
  fault(
    streams.some(({ isOver }) => !isOver),
    'a stream is open after the end',
  )
  return [...faults, ...(await afterwards(query))]
}

/**
 * Blocks are yielded as they end, and kept in the order in which they began, with their results: the order within a reply does
 * not count. A thought is sent only if something follows it, which depends on the order.
 */
function inAnyOrder(lines: readonly string[]): string {
  const replies: string[][] = [[]]
  for (const line of lines.filter((each) => each !== 'assistant: thinking')) {
    const last = replies.at(-1) as string[]
    if (kindOf(line) !== undefined && kindOf(line) === kindOf(last.at(-1))) last.push(line)
    else replies.push([line])
  }
  return String(replies.flatMap((reply) => reply.toSorted()))
}

const kindOf = (line: string | undefined): string | undefined => /^assistant:|^user: result/.exec(line ?? '')?.[0]

function usedBy({ run }: QueryUnderTest): Required<PlannedLimits> {
  const { turns, calls, models } = run.usage
  const assumed = Object.values(models).map(({ assumedOutputTokens = 0 }) => assumedOutputTokens)
  return { turns, calls, outputTokens: assumed.reduce((sum, each) => sum + each, 0) }
}

/** Late events change nothing. */
async function afterwards(query: QueryUnderTest): Promise<string[]> {
  const { run, bodies, clock } = query
  const before = stateOf(query)
  run.abort('late')
  run.interrupt('late')
  run.interrupt()
  const isTaken = run.send('late')
  for (const question of bodies.questions) if (!question.isAnswered) question.answer('allow')
  for (const body of bodies.bodies.filter(({ settledAt }) => settledAt === undefined)) {
    body.progress()
    body.finish(true)
  }
  clock.increment(1_000)
  await flush()
  const after = stateOf(query)
  return [
    ...(isTaken ? ['a message was taken after the end'] : []),
    ...(before === after ? [] : [`after the end: ${before} became ${after}`]),
  ]
}

const stateOf = ({ run, yielded, streams, bodies, clock, result }: QueryUnderTest): string =>
  JSON.stringify([
    run.transcript.length,
    yielded.length,
    streams.length,
    bodies.bodies.length,
    clock.pending.size,
    result?.reason,
  ])
