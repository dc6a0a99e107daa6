import type { LimitReached } from '../../../machines/index.ts'
import { checkLimits, dearest, type Limits } from '../../usage/limits.ts'
import { costOf, dearestInput, type ModelUsage, noTokens, type Prices, priceOf } from '../../usage/usage-total.ts'
import type { ReplyFrame } from '../frames/frame.ts'
import { Agenda, toMicros } from './agenda.ts'
import type { CallTimes } from './call-times.ts'
import type { Branch } from './conversation-tree.ts'
import type { Phase } from './seen-call.ts'
import type { SeenRun } from './seen-run.ts'
import { type ReplayedRequest, SpendingReplay } from './spending-replay.ts'
import type { WhatIf } from './what-if.ts'

export interface LimitOptions {
  /** Limits on the whole conversation, its agents and background calls included, as for a query or a session. */
  readonly limits?: Limits | undefined
  /**
   * For `limits.costUsd`.
   * @default the recorded costs
   */
  readonly prices?: Prices | undefined
  /**
   * The most tokens that a reply may have, which each request reserves.
   * @default what the reply used
   */
  readonly maxOutputTokens?: number | undefined
}

/** Where a limit ends a conversation. */
export interface LimitEnd extends LimitReached {
  /** When it is reached, in milliseconds since the recording began. */
  readonly at: number
  /** The run that reaches it. */
  readonly run: number
  /** The call that is refused; undefined if a request is, or if time is up. */
  readonly call: string | undefined
  /** How many recorded calls are not made. */
  readonly callsLeft: number
  /** How many recorded turns are not begun, those of agents included. */
  readonly turnsLeft: number
}

export interface LimitedPart extends Branch<LimitedPart> {
  readonly result: WhatIf | undefined
  readonly shift: number
  /** Before its shift; undefined if it does not end. */
  readonly simulatedEnd: number | undefined
}

/** What a limit leaves of a conversation. Times are in microseconds. */
export interface LimitedConversation<Part> {
  readonly end: LimitEnd
  readonly begun: ReadonlySet<Part>
  /** Turns that are begun but lack calls. */
  readonly lacking: ReadonlySet<Part>
  /** The calls that get an error in place of a result, of each turn that is begun. */
  readonly refused: ReadonlyMap<Part, ReadonlySet<string>>
  /** When time is up, so what is under way stops. */
  readonly stoppedAt: number
}

/** Spends what the turns have used until a limit is reached. Undefined if none is. */
export function limitConversation<Part extends LimitedPart>(
  parts: readonly Part[],
  options: LimitOptions,
): LimitedConversation<Part> | undefined {
  const { limits = {} } = options
  if (Object.values(limits).every((max) => max === undefined)) return undefined
  return new Limiting(parts, limits, options).result() as LimitedConversation<Part> | undefined
}

/** Throws if an option is invalid. */
export function checkLimitOptions({ limits, prices }: LimitOptions, runs: Iterable<SeenRun>): void {
  const replies = [...runs].flatMap((run) => run.replies)
  const isPriced = replies.length > 0 && replies.every(({ costUsd }) => costUsd !== undefined)
  checkLimits(limits, prices ?? (isPriced ? { recorded: { input: 0, output: 0 } } : undefined))
}

/** A run while its spending is replayed. */
interface Spender {
  readonly part: LimitedPart
  readonly refused: Set<string>
  isBegun: boolean
  callsMade: number
}

/** What counts for `durationMs`, besides requests. */
const timed: ReadonlySet<Phase> = new Set(['preHooks', 'calling', 'stopping', 'postHooks'])

/** Ends come before beginnings at the same time. */
const ends = -1

class Limiting {
  readonly #agenda = new Agenda()
  readonly #spending: SpendingReplay
  readonly #options: LimitOptions
  readonly #spenders = new Map<LimitedPart, Spender>()
  /** Calls whose agent has been counted. */
  readonly #agents = new Set<string>()
  #by: { readonly run: number; readonly call: string | undefined } | undefined

  constructor(parts: readonly LimitedPart[], limits: Limits, options: LimitOptions) {
    this.#options = options
    this.#spending = new SpendingReplay(limits, this.#agenda)
    for (const part of parts) {
      this.#spenders.set(part, { part, refused: new Set(), isBegun: false, callsMade: 0 })
    }
    for (const { part } of this.#spenders.values()) if (part.parent === undefined) this.#startLater(part)
    while (this.#spending.stoppedAt === undefined && this.#agenda.step());
  }

  result(): LimitedConversation<LimitedPart> | undefined {
    const { reached: over, stoppedAt = Number.POSITIVE_INFINITY } = this.#spending
    if (over === undefined) return undefined
    const spenders = [...this.#spenders.values()]
    const begun = spenders.filter(({ isBegun }) => isBegun)
    const isUnderWay = ({ part: { simulatedEnd = Number.POSITIVE_INFINITY, shift } }: Spender): boolean =>
      simulatedEnd + shift >= over.at
    const under = begun.findLast(isUnderWay) ?? spenders[0]
    const { run = under?.part.run ?? 0, call } = this.#by ?? {}
    const all = spenders.reduce((sum, { part }) => sum + part.seen.calls.length, 0)
    const made = begun.reduce((sum, { callsMade }) => sum + callsMade, 0)
    const left = { callsLeft: all - made, turnsLeft: spenders.length - begun.length }
    const lacking = begun.filter(({ part, callsMade }) => callsMade < part.seen.calls.length)
    return {
      end: { ...over.reached, at: over.at / 1_000, run, call, ...left },
      begun: new Set(begun.map(({ part }) => part)),
      lacking: new Set(lacking.map(({ part }) => part)),
      refused: new Map(begun.map(({ part, refused }) => [part, refused])),
      stoppedAt,
    }
  }

  #startLater(part: LimitedPart): void {
    const startsAt = part.seen.startedAt + part.shift
    if (Number.isFinite(startsAt)) this.#agenda.add(startsAt, part.seen.startedSeq, () => this.#start(part))
  }

  #start(part: LimitedPart): void {
    const { parent, seen, shift } = part
    const spender = this.#spenders.get(part)
    if (spender === undefined || this.#spending.reached !== undefined) return
    this.#notice(part, undefined, () => {
      if (parent !== undefined && !this.#countAgent(parent)) return
      const request: ReplayedRequest = {
        wanted: this.#wantedBy(seen),
        used: seen.replies.length > 0 || seen.calls.length > 0 ? this.#usageOf(seen) : undefined,
        grant: () => this.#begin(spender, request, repliedAt(seen) + shift),
      }
      this.#spending.reserve(request)
    })
  }

  /** Remembers which run, or which of its calls, reaches the limit. */
  #notice({ run }: LimitedPart, call: string | undefined, act: () => void): void {
    const before = this.#spending.reached
    act()
    if (before === undefined && this.#spending.reached !== undefined) this.#by = { run, call }
  }

  #countAgent({ branch, call }: { readonly branch: LimitedPart; readonly call: string }): boolean {
    const id = `${branch.run} ${call}`
    if (this.#agents.has(id)) return true
    this.#agents.add(id)
    return this.#spending.oneMore('agents') && this.#spending.oneMore('depth', branch.depth)
  }

  #begin(spender: Spender, request: ReplayedRequest, repliesAt: number): void {
    const { part } = spender
    spender.isBegun = true
    this.#agenda.add(repliesAt, ends, () => this.#spending.release(request))
    for (const call of part.result?.simulated.calls ?? []) {
      const addedAt = toMicros(call.addedAt) + part.shift
      const agents = part.agents.filter(({ parent }) => parent?.call === call.id)
      const { seq = 0 } = part.seen.byId.get(call.id) ?? {}
      this.#agenda.add(addedAt, seq, () => this.#add(spender, call, agents))
    }
  }

  #add(spender: Spender, call: CallTimes, agents: readonly LimitedPart[]): void {
    this.#notice(spender.part, call.id, () => {
      if (!this.#spending.oneMore('calls')) spender.refused.add(call.id)
    })
    if (spender.refused.has(call.id)) return
    spender.callsMade++
    const isAgent = agents.length > 0
    for (const agent of agents) this.#startLater(agent)
    const { shift } = spender.part
    const stays = call.phases.filter(({ phase }) => timed.has(phase) && !(isAgent && phase === 'calling'))
    for (const { from, to } of [...stays, ...(call.background ? [call.background] : [])]) {
      if (to === undefined || to <= from) continue
      this.#at(toMicros(from) + shift, () => {
        this.#spending.begin()
        this.#at(toMicros(to) + shift, () => this.#spending.end())
      })
    }
  }

  #at(due: number, act: () => void): void {
    this.#agenda.add(due, ends, act)
  }

  #wantedBy(seen: SeenRun): ReplayedRequest['wanted'] {
    const { maxOutputTokens = 0, prices } = this.#options
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costUsd = 0 } = this.#usageOf(seen)
    const input = inputTokens + cacheReadTokens + cacheWriteTokens
    const output = Math.max(outputTokens, maxOutputTokens)
    const price = prices && (priceOf(prices, seen.replies[0]?.model ?? '', undefined) ?? dearest(prices))
    const isBounded = price !== undefined && maxOutputTokens > 0
    const most = isBounded ? (input * dearestInput(price) + output * price.output) / 1_000_000 : 0
    // without a highest number of tokens, a request fits if what it used fits
    return { turns: 1, inputTokens: input, outputTokens: output, costUsd: Math.max(costUsd, most) }
  }

  #usageOf({ replies }: SeenRun): ModelUsage {
    const { prices } = this.#options
    const sum = { ...noTokens, requests: 1, retries: 0, costUsd: 0 }
    for (const reply of replies) {
      const { input, output, cacheRead, cacheWrite } = reply.tokens
      sum.inputTokens += input
      sum.outputTokens += output
      sum.cacheReadTokens += cacheRead
      sum.cacheWriteTokens += cacheWrite
      sum.costUsd += costOfReply(reply, prices)
    }
    return sum
  }
}

function costOfReply({ model, tokens, costUsd = 0 }: ReplyFrame, prices: Prices | undefined): number {
  const price = prices && (priceOf(prices, model ?? '', undefined) ?? dearest(prices))
  if (price === undefined) return costUsd
  const { input: inputTokens, output: outputTokens, cacheRead, cacheWrite } = tokens
  const counts = { inputTokens, outputTokens, cacheReadTokens: cacheRead, cacheWriteTokens: cacheWrite }
  return costOf({ ...counts, reasoningTokens: 0 }, price)
}

/** When the model had replied: as recorded, or with its last call. */
function repliedAt({ replies, calls, startedAt }: SeenRun): number {
  const reply = replies.at(-1)
  if (reply !== undefined) return toMicros(reply.at)
  return calls.reduce((last, { addedAt }) => Math.max(last, addedAt), startedAt)
}
