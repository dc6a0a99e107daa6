import { isSet } from '../../usage/limits.ts'
import type { Frame } from '../frames/frame.ts'
import { toMicros } from './agenda.ts'
import { bodiesWith, endIn, endOf, type Part, shiftAll, untouched } from './conversation-shift.ts'
import { conversationTree } from './conversation-tree.ts'
import {
  checkLimitOptions,
  type LimitEnd,
  type LimitedConversation,
  type LimitOptions,
  limitConversation,
} from './limit-conversation.ts'
import { readRuns, type SeenRuns } from './read-run.ts'
import { type WhatIf, type WhatIfOptions, WhatIfWork } from './what-if.ts'

export interface ConversationOptions extends Omit<WhatIfOptions, 'run'>, LimitOptions {}

/** A recorded conversation, and a simulation of it with changes. */
export interface ConversationWhatIf {
  /** All turns, by their start; the turns of an agent follow the turn that it works for. */
  readonly turns: readonly TurnWhatIf[]
  /** From the start of the first turn to the end of the last one; undefined if none ends. */
  readonly recordedMs: number | undefined
  /** The same, and not before the last background call has ended. Undefined if a turn has no end any more. */
  readonly simulatedMs: number | undefined
  /** Where `limits` end the conversation; undefined if they do not. */
  readonly limit: LimitEnd | undefined
  /** Reasons not to rely on the result, as sentences. */
  readonly caveats: readonly string[]
}

/** One turn: its own duration, and where it is in the conversation. */
export interface TurnWhatIf {
  /** The number of its run in the recording. */
  readonly run: number
  readonly title: string
  /** 0: a turn of the conversation itself. 1: of an agent, and so on. */
  readonly depth: number
  /** How far it comes with `limits`. `cut`: some of its calls are refused or stopped. `notBegun`: its request is not made. */
  readonly reach: 'end' | 'cut' | 'notBegun'
  readonly recorded: TurnTimes
  readonly simulated: TurnTimes
  /**
   * Each call, as recorded and as simulated; a call that a limit forbids is answered without running. Times of the
   * simulation are those of the turn without the shift of earlier turns.
   */
  readonly calls: WhatIf
}

export interface TurnTimes {
  /** In milliseconds since the recording began; undefined if an earlier turn does not end, or if it is not begun. */
  readonly startsAt: number | undefined
  readonly endsAt: number | undefined
}

/**
 * Simulates every turn of a recording, agents included, with other limits, classes, resources or background thresholds,
 * and says where limits of turns, calls, tokens, cost or time would have ended the conversation. A turn starts as long
 * after the end of the turn before it as in the recording. A call with an agent inside takes as much more or less time as
 * its agent.
 *
 * @example
 * const { turns, recordedMs, simulatedMs } = whatIfConversation(frames, { backgroundAfterMs: ({ name }) => (name === 'Bash' ? 30_000 : undefined) })
 */
export function whatIfConversation(frames: Iterable<Frame>, options: ConversationOptions = {}): ConversationWhatIf {
  const work = new ConversationWork(readRuns(frames), options)
  work.advance()
  return work.result()
}

/** The same in small steps, for callers that must not block. */
export class ConversationWork {
  readonly #options: ConversationOptions
  readonly #parts: readonly Part[]
  /** Agents come before the turn that they work for. Turns that a limit changes come a second time, as it leaves them. */
  readonly #order: Part[]
  /** Runs that cannot be simulated. */
  readonly #left: readonly string[]
  #done = 0
  #limited: LimitedConversation<Part> | undefined
  #isLimited = false

  constructor(runs: SeenRuns, options: ConversationOptions) {
    this.#options = options
    const whole = [...runs.byNumber].filter(([, { lacks }]) => lacks === undefined)
    this.#parts = conversationTree<Part>({ byNumber: new Map(whole) }, (branch) => ({ ...branch, ...untouched }))
    // throws, and says why
    if (this.#parts.length === 0) runs.get()
    checkLimitOptions(
      options,
      this.#parts.map(({ seen }) => seen),
    )
    this.#left = [...runs.byNumber.values()].filter(({ lacks }) => lacks !== undefined).map(({ title }) => title)
    this.#order = [...this.#parts].sort((a, b) => b.depth - a.depth)
  }

  get isOver(): boolean {
    return this.#isLimited && this.#done >= this.#order.length
  }

  /** From 0 to 1. */
  get progress(): number {
    const current = this.#order[this.#done]?.work?.progress ?? 0
    return this.#order.length === 0 ? 1 : (this.#done + current) / this.#order.length
  }

  advance(maxMs = Number.POSITIVE_INFINITY): void {
    const until = performance.now() + maxMs
    while (!this.isOver) {
      const part = this.#order[this.#done]
      if (part === undefined) this.#limit()
      else this.#advance(part, until)
      if (performance.now() > until) return
    }
  }

  #advance(part: Part, until: number): void {
    part.work ??= new WhatIfWork(
      part.seen,
      this.#options,
      bodiesWith(part, this.#limited),
      this.#limited?.refused.get(part),
    )
    part.work.advance(Number.isFinite(until) ? Math.max(1, until - performance.now()) : undefined)
    if (part.work.isOver) this.#finish(part)
  }

  #finish(part: Part): void {
    const result = (part.work as WhatIfWork).result()
    const { recorded, simulated } = result
    part.work = undefined
    part.result = result
    part.recordedEnd = endOf(recorded.calls, part.seen.saidAt)
    part.simulatedEnd = part.recordedEnd === undefined ? undefined : endOf(simulated.calls, part.seen.saidAt)
    this.#done++
  }

  /** Until a limit is reached, everything is as without it. What is under way then is simulated again. */
  #limit(): void {
    this.#isLimited = true
    shiftAll(this.#main, 0)
    this.#limited = limitConversation(this.#parts, this.#options)
    if (this.#limited === undefined) return
    const { begun, refused } = this.#limited
    const changed = new Set<Part>()
    for (const part of [...this.#order]) {
      part.isBegun = begun.has(part)
      const lacksCalls = (refused.get(part)?.size ?? 0) > 0
      const lacksTurns = part.agents.some((agent) => !agent.isBegun || changed.has(agent))
      if (!part.isBegun || !(lacksCalls || lacksTurns)) continue
      changed.add(part)
      this.#order.push(part)
    }
  }

  get #main(): Part[] {
    return this.#parts.filter(({ depth }) => depth === 0)
  }

  result(): ConversationWhatIf {
    const main = this.#main
    shiftAll(main, 0)
    // what is left may take another time, which could be up
    const limited = this.#limited && limitConversation(this.#parts, this.#options)
    const turns = main.flatMap(function turnsOf(part): TurnWhatIf[] {
      return [turnOf(part, limited), ...part.agents.flatMap(turnsOf)]
    })
    const ended = main.filter(({ recordedEnd }) => recordedEnd !== undefined)
    const start = Math.min(...main.map(({ seen }) => seen.startedAt))
    const length = (ends: readonly number[]): number | undefined => {
      const last = Math.max(...ends) - start
      return ends.length > 0 && Number.isFinite(last) ? last / 1_000 : undefined
    }
    const simulatedEnds = [...ended.map(endIn), ...(ended.length > 0 ? this.#parts.flatMap(backgroundEnds) : [])]
    const limitedEnds = this.#parts.filter(({ isBegun }) => isBegun).map((part) => limitedEnd(part, limited))
    return {
      turns,
      recordedMs: length(ended.map(({ recordedEnd }) => recordedEnd as number)),
      simulatedMs: length(limited === undefined ? simulatedEnds : [start, ...limitedEnds]),
      limit: limited?.end,
      caveats: [
        ...this.#left.map((title) => `${title} is left out: a part of it is not in the recording.`),
        ...this.#untold(),
        ...new Set(this.#parts.flatMap((part) => this.#caveats(part))),
      ],
    }
  }

  /** Requests that count as nothing against a limit of tokens or cost. */
  #untold(): string[] {
    const { limits = {} } = this.#options
    const isCounted = [limits.inputTokens, limits.outputTokens, limits.costUsd].some(isSet)
    const untold = this.#parts.filter(({ seen: { replies } }) => replies.length === 0).length
    if (!isCounted || untold === 0) return []
    return [`Turns without token counts in the recording count as 0 tokens: ${untold}.`]
  }

  #caveats({ seen, result, recordedEnd }: Part): string[] {
    const background = (result?.simulated.calls ?? []).filter(
      ({ background: during, ended }, index) =>
        during !== undefined && ended === 'background' && result?.recorded.calls[index]?.ended !== 'background',
    )
    const names = background.slice(0, 3).map(({ label }) => label)
    const more = background.length > names.length ? ` and ${background.length - names.length} more` : ''
    return [
      ...(result?.caveats ?? []).map((doubt) => `${seen.title}: ${doubt}`),
      ...(recordedEnd === undefined ? [`${seen.title} does not end in the recording.`] : []),
      ...(background.length === 0
        ? []
        : [
            `${seen.title}: the model continues without the results of ${names.join(', ')}${more}, so its later replies could differ.`,
          ]),
    ]
  }
}

function turnOf(part: Part, limited: LimitedConversation<Part> | undefined): TurnWhatIf {
  const { run, seen, depth, result, recordedEnd, shift, isBegun, agents } = part
  const { stoppedAt = Number.POSITIVE_INFINITY, lacking } = limited ?? {}
  const isStopped = Number.isFinite(stoppedAt) && stoppedAt <= endIn(part)
  const isCut = isStopped || lacking?.has(part) === true || agents.some((agent) => !agent.isBegun)
  const endsAt = isStopped || recordedEnd !== undefined ? Math.min(stoppedAt, endIn(part)) : undefined
  const ms = (micros: number | undefined): number | undefined =>
    micros === undefined || !Number.isFinite(micros) ? undefined : micros / 1_000
  return {
    run,
    title: seen.title,
    depth,
    reach: !isBegun ? 'notBegun' : isCut ? 'cut' : 'end',
    recorded: { startsAt: ms(seen.startedAt), endsAt: ms(recordedEnd) },
    simulated: isBegun
      ? { startsAt: ms(seen.startedAt + shift), endsAt: ms(endsAt) }
      : { startsAt: undefined, endsAt: undefined },
    calls: result as WhatIf,
  }
}

/** When a turn ends in the simulation under a limit. A turn without an end in the recording lasts as long as is known. */
function limitedEnd(part: Part, { stoppedAt }: Pick<LimitedConversation<Part>, 'stoppedAt'> = never): number {
  const { seen, recordedEnd, result, shift } = part
  if (recordedEnd !== undefined || Number.isFinite(stoppedAt)) return Math.min(stoppedAt, endIn(part))
  const known = (result?.simulated.calls ?? []).filter(({ endedAt }) => endedAt !== undefined)
  return (endOf(known, seen.saidAt) as number) + shift
}

const never = { stoppedAt: Number.POSITIVE_INFINITY } as const

/** A background call whose duration is unknown is not waited for. */
const backgroundEnds = ({ result, shift }: Part): number[] =>
  (result?.simulated.calls ?? []).flatMap(({ background }) =>
    background?.to === undefined ? [] : [toMicros(background.to) + shift],
  )
