import { anArray, anIntegerFrom, anObject } from '../base/option-rules.ts'
import { frameLine } from '../inspect/index.ts'
import type { AnyTool } from '../tool/tool.ts'
import { type FoundQuery, foundQuery } from './found-query.ts'
import { HeldConversation } from './held-conversation.ts'
import { troublesomeTools } from './held-tool.ts'
import { breachesInWords } from './invariant.ts'
import { checkOptions, type OptionRules } from './option-rules.ts'
import type { QuerySetup } from './query-setup.ts'
import { pickFrom, randomWalk } from './random-walk.ts'
import { recordQuery } from './record-story.ts'
import { digestOf, randomFrom } from './repeatable.ts'
import { type SimulateOptions, seedRules } from './simulate.ts'

export interface SimulateQueryOptions
  extends Pick<SimulateOptions, 'seed' | 'runs' | 'tools' | 'maxMoves' | 'onRun' | 'onRecording' | 'maxMs' | 'now'>,
    Pick<QuerySetup, 'happenings' | 'invariants' | 'options' | 'context' | 'executor'> {
  /** The model's replies. @default up to `maxReplies` random replies with calls of these tools and of unknown tools */
  readonly replies?: QuerySetup['replies'] | undefined
  /** @default 4 */
  readonly maxReplies?: number | undefined
}

const simulateQueryRules: OptionRules<SimulateQueryOptions> = {
  ...seedRules,
  replies: anArray,
  maxReplies: anIntegerFrom(1),
  happenings: anObject,
  options: anObject,
  context: anObject,
  executor: anObject,
}

export interface QuerySimulation {
  readonly runs: number
  readonly moves: number
  /** A hash over all logs: equal for equal seeds. */
  readonly digest: string
  readonly elapsedMs: number
  readonly breach: FoundQuery | undefined
  readonly report: string
}

/** Random long conversations with faults of the model, of tools and of people, in simulated time. */
export async function simulateQuery(given: SimulateQueryOptions): Promise<QuerySimulation> {
  checkOptions(given, simulateQueryRules, ['seed'])
  const { seed, runs = 100, maxMoves = 40, maxMs = Number.POSITIVE_INFINITY, now = () => performance.now() } = given
  const begin = now()
  let [moves, run, digest] = [0, 0, digestOf(String(seed))]
  let breach: FoundQuery | undefined
  while (run < runs && breach === undefined && now() - begin < maxMs) {
    const random = randomFrom(digestOf(`${seed} ${run}`))
    const setup = randomQuery(given, random)
    const world = new HeldConversation(setup)
    const recording = given.onRecording === undefined ? undefined : recordQuery(world)
    const { story, breaches } = await randomWalk(world, maxMoves, random, weightOf)
    if (recording !== undefined) given.onRecording?.(recording.end(breaches).map(frameLine).join(''), run)
    const log = [
      `run ${run}: ${JSON.stringify(setup.replies)}`,
      ...story.map((move, index) => `  ${index + 1}. ${move}`),
      ...world.run.transcript.slice(1).map((message) => `  > ${JSON.stringify(contentOf(message))}`),
      `  ${world.result?.reason}, after ${world.clock.now()} ms`,
      ...(breaches.length > 0 ? [breachesInWords(breaches)] : []),
      '',
    ].join('\n')
    given.onRun?.(log, run)
    digest = digestOf(log, digest)
    moves += story.length
    run++
    if (breaches.length > 0) breach = await foundQuery(setup, story, breaches)
  }
  const elapsedMs = now() - begin
  const line = `seed ${seed}: ${run} queries, ${moves} moves, ${(elapsedMs / 1_000).toFixed(1)} s`
  const report = breach === undefined ? `${line}: no breach found` : `${line}\n${breach.text}`
  return { runs: run, moves, digest: digest.toString(16).padStart(8, '0'), elapsedMs, breach, report }
}

const contentOf = (message: object): unknown => ('message' in message ? message.message : message)

function randomQuery(given: SimulateQueryOptions, random: () => number): QuerySetup {
  const { tools = troublesomeTools(), maxReplies = 4, invariants, options, context, executor } = given
  const replies =
    given.replies ?? Array.from({ length: 1 + Math.floor(random() * maxReplies) }, () => reply(tools, random))
  return {
    tools,
    replies,
    happenings: { send: true, hostAbort: true, ...given.happenings },
    maxTroubles: 3,
    hasFallback: random() < 0.3,
    executor: { maxConcurrency: 1 + Math.floor(random() * 4), abortGraceMs: 100, maxBufferedProgress: 10, ...executor },
    ...(options !== undefined && { options }),
    ...(context !== undefined && { context }),
    ...(invariants !== undefined && { invariants }),
  }
}

function reply(tools: readonly AnyTool[], random: () => number): QuerySetup['replies'][number] {
  const names = [...tools.map(({ name }) => name), 'Nowhere']
  const calls = Array.from({ length: 1 + Math.floor(random() * 3) }, () => ({ call: pickFrom(names, random) }))
  return random() < 0.5 ? ['Let me see.', ...calls] : calls
}

/** Moves that end many things are less likely. */
function weightOf(name: string): number {
  if (/^the (user (interrupts|aborts)|host|reader)|refuses$/.test(name)) return 1
  return /overloaded|breaks off|cut short|anew|^time passes/.test(name) ? 4 : 24
}
