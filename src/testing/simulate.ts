import { aFunction, anArray, anIntegerFrom, positiveMilliseconds } from '../base/option-rules.ts'
import { frameLine } from '../inspect/index.ts'
import type { AnyTool } from '../tool/tool.ts'
import { type FoundStory, foundStory } from './found-story.ts'
import { troublesomeTools } from './held-tool.ts'
import { HeldWorld } from './held-world.ts'
import { type Breach, breachesInWords, type Invariant } from './invariant.ts'
import { checkOptions, type OptionRules } from './option-rules.ts'
import { pickFrom, randomWalk } from './random-walk.ts'
import { recordWorld } from './record-story.ts'
import { digestOf, randomFrom } from './repeatable.ts'
import { shrinkStory } from './shrink-story.ts'
import { idOf, type PlannedCall, type TurnSetup } from './turn-setup.ts'

export interface SimulateOptions {
  /** The same seed gives the same runs, byte for byte. */
  readonly seed: number
  /** The number of turns. @default 100 */
  readonly runs?: number | undefined
  /** @default tools of every kind */
  readonly tools?: readonly AnyTool[] | undefined
  /** The model's calls. @default up to `maxCalls` random calls of these tools and of unknown tools */
  readonly calls?: readonly PlannedCall[] | undefined
  /** @default 8 */
  readonly maxCalls?: number | undefined
  /** The number of moves before each turn is brought to its end. @default 40 */
  readonly maxMoves?: number | undefined
  readonly invariants?: readonly Invariant[] | undefined
  /** Called with the log of each run. */
  readonly onRun?: ((log: string, run: number) => void) | undefined
  /** Called with each run as a recording for the inspector: one frame per line. */
  readonly onRecording?: ((recording: string, run: number) => void) | undefined
  /** Stops after this many milliseconds. @default no limit */
  readonly maxMs?: number | undefined
  /** The clock for `maxMs`. @default performance.now */
  readonly now?: (() => number) | undefined
}

/** What `simulate` and `simulateQuery` have in common. */
export const seedRules = {
  seed: [Number.isFinite, 'a number'],
  runs: anIntegerFrom(1),
  tools: anArray,
  maxMoves: anIntegerFrom(1),
  onRun: aFunction,
  onRecording: aFunction,
  maxMs: positiveMilliseconds,
  now: aFunction,
  invariants: anArray,
} satisfies Partial<OptionRules<SimulateOptions>>

const simulateRules: OptionRules<SimulateOptions> = { ...seedRules, calls: anArray, maxCalls: anIntegerFrom(1) }

export interface Simulation {
  readonly runs: number
  readonly moves: number
  readonly results: number
  /** A hash over all logs: equal for equal seeds. */
  readonly digest: string
  readonly elapsedMs: number
  readonly breach: FoundStory | undefined
  readonly report: string
}

/** Random long turns with faults, in simulated time. Stops at the first breach, with the smallest story that shows it. */
export async function simulate(options: SimulateOptions): Promise<Simulation> {
  checkOptions(options, simulateRules, ['seed'])
  const { seed, runs = 100, maxMoves = 40, maxMs = Number.POSITIVE_INFINITY, now = () => performance.now() } = options
  const begin = now()
  let [moves, results, digest] = [0, 0, digestOf(String(seed))]
  let breach: FoundStory | undefined
  let run = 0
  while (run < runs && breach === undefined && now() - begin < maxMs) {
    const random = randomFrom(digestOf(`${seed} ${run}`))
    const setup = randomSetup(options, random)
    const world = new HeldWorld(setup)
    const recording = options.onRecording === undefined ? undefined : recordWorld(world)
    const { story, breaches } = await randomWalk(world, maxMoves, random, weightOf)
    if (recording !== undefined) options.onRecording?.(recording.end(breaches).map(frameLine).join(''), run)
    const log = storyLog(run, setup, world, story, breaches)
    options.onRun?.(log, run)
    digest = digestOf(log, digest)
    moves += story.length
    results += world.book.order.length
    run++
    if (breaches.length > 0) breach = foundStory(await shrinkStory(setup, story, breaches))
  }
  const elapsedMs = now() - begin
  const line = `seed ${seed}: ${run} turns, ${moves} moves, ${results} results, ${(elapsedMs / 1_000).toFixed(1)} s`
  const report = breach === undefined ? `${line}: no breach found` : `${line}\n${breach.text}`
  return { runs: run, moves, results, digest: digest.toString(16).padStart(8, '0'), elapsedMs, breach, report }
}

function randomSetup({ tools, calls, maxCalls = 8, invariants }: SimulateOptions, random: () => number): TurnSetup {
  const given = tools ?? troublesomeTools()
  const names = [...given.map(({ name }) => name), ...(tools === undefined ? ['Nowhere'] : [])]
  const planned = (): PlannedCall => ({ tool: pickFrom(names, random), ...(random() < 0.15 && { hold: true }) })
  return {
    tools: given,
    calls: calls ?? Array.from({ length: 1 + Math.floor(random() * maxCalls) }, planned),
    phases: random() < 0.5 ? 'all' : 'bodies',
    arrival: random() < 0.5 ? 'together' : 'anyTime',
    happenings: { flood: true, strange: true, long: true, hostAbort: true, rewrite: true, modifier: true, reader: 2 },
    ...(random() < 0.2 && {
      context: { permissions: { deny: [pickFrom(names, random)], ask: [pickFrom(names, random)] } },
    }),
    options: { maxConcurrency: 1 + Math.floor(random() * 4), abortGraceMs: 100, maxBufferedProgress: 10 },
    ...(invariants !== undefined && { invariants }),
  }
}

/** Moves that end many things are less likely. */
const weightOf = (name: string): number => (name.startsWith('the ') ? 1 : name === 'time passes' ? 3 : 8)

/** The moves and their effects as text. Deterministic. */
function storyLog(
  run: number,
  { calls, phases, options }: TurnSetup,
  { book, clock }: HeldWorld,
  story: readonly string[],
  breaches: readonly Breach[],
): string {
  return [
    `run ${run}: ${phases}, ${JSON.stringify(options)}`,
    ...calls.map((call, index) => `  ${idOf(call, index)} = ${call.tool}${call.hold === true ? ', held' : ''}`),
    ...story.map((move, index) => `  ${index + 1}. ${move}`),
    ...book.messages.map((message) => `  > ${JSON.stringify(message)}`),
    `  ${book.gate}, ${book.run}, after ${clock.now()} ms`,
    ...(breaches.length > 0 ? [breachesInWords(breaches)] : []),
    '',
  ].join('\n')
}
