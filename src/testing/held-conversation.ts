import type { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'
import { createUserMessage } from '../messages/create-messages.ts'
import type { UserMessage } from '../messages/message.ts'
import { type Query, query } from '../query/query.ts'
import type { QueryMessage, QueryResult } from '../query/query-message.ts'
import { allowAllTools } from '../tool/permission.ts'
import type { BackgroundEvidence } from './background-invariants.ts'
import { isAlone } from './conflicts.ts'
import { countListeners } from './count-listeners.ts'
import { EvidenceBook, isCalling } from './evidence-book.ts'
import { queryFingerprint } from './fingerprint.ts'
import { HeldBodies } from './held-bodies.ts'
import { HeldReplies } from './held-replies.ts'
import { type Breach, breachesOf } from './invariant.ts'
import { turnInvariants } from './invariants.ts'
import type { Moves } from './moves.ts'
import { never, type PlayableWorld } from './playable-world.ts'
import { type QueryEvidence, queryInvariants } from './query-invariants.ts'
import { queryMoves } from './query-moves.ts'
import type { QuerySetup } from './query-setup.ts'
import { countedIdsAndTime } from './repeatable.ts'
import { type SimulatedClock, simulatedClock } from './simulated-clock.ts'
import type { CallEvidence } from './turn-evidence.ts'
import { explainWaits, keepBook } from './watch-invariants.ts'

interface Attempted {
  readonly executor: StreamingToolExecutor
  readonly book: EvidenceBook
}

/** A query on the real loop, in a world where only the story makes things happen. */
export class HeldConversation implements PlayableWorld {
  readonly setup: QuerySetup
  readonly clock: SimulatedClock = simulatedClock()
  readonly host = new AbortController()
  readonly run: Query
  readonly model: HeldReplies
  readonly bodies: HeldBodies
  readonly attempts: Attempted[] = []
  readonly messages: QueryMessage[] = []
  readonly said: UserMessage[] = []
  readonly graceMs: number
  result: QueryResult | undefined
  hasReaderLeft = false
  hasSent = false
  hasSteered = false
  /** True if an interrupt ended it; a later abort replaces the interrupt. */
  hasInterrupted = false
  requestsAtAbort: number | undefined
  /** Whether the query took over the calls that were sent to the background. */
  readonly #detached = new Map<string, boolean>()
  #ended: string[] = []
  readonly #listeners: () => number
  readonly #idsAndTime = countedIdsAndTime(this.clock)

  constructor(setup: QuerySetup) {
    this.setup = setup
    const { tools, replies, options, context, executor, hasFallback } = setup
    this.graceMs = executor?.abortGraceMs ?? 5_000
    this.#listeners = countListeners(this.host.signal)
    this.model = new HeldReplies(replies)
    const find = (id: string) => this.attempts.at(-1)?.book.find(id)
    this.bodies = new HeldBodies(tools, { find }, this.clock, this.graceMs)
    const { model } = this.model.held
    this.run = query({
      messages: [this.#says('go')],
      canUseTool: allowAllTools,
      retry: { attempts: 1, backoffMs: 100 },
      ...options,
      tools: this.bodies.tools,
      model,
      ...(hasFallback === true && { fallbackModel: (request) => model(request) }),
      context: { ...context, abortController: this.host },
      executor: { ...executor, clock: this.clock, uuid: this.#idsAndTime.uuid },
    })
    this.run.onExecutor((each) => this.#meet(each))
    void this.#read()
  }

  #meet(executor: StreamingToolExecutor): void {
    const book = new EvidenceBook(this.setup.executor?.maxConcurrency ?? 10)
    this.attempts.push({ executor, book })
    keepBook(executor, book)
  }

  async #read(): Promise<void> {
    for (;;) {
      const step = await this.run.next()
      if (step.done === true) {
        this.result = step.value
        return
      }
      this.messages.push(step.value)
    }
  }

  /** The user interrupts with something to say. */
  steer(): void {
    this.hasSteered = true
    const message = this.#says('something else')
    this.said.push(message)
    this.run.interrupt(message)
  }

  send(): void {
    this.hasSent = true
    const message = this.#says('one thing more')
    if (this.run.send(message)) this.said.push(message)
  }

  /** Deterministic: the same story produces the same message. */
  #says(text: string): UserMessage {
    return createUserMessage(text, this.#idsAndTime)
  }

  /** Its body runs in its turn. */
  canDetach(id: string): boolean {
    const call = this.attempts.at(-1)?.book.find(id)
    return call !== undefined && isCalling(call.phase) && this.run.actor.getSnapshot().status === 'active'
  }

  detach(id: string): void {
    this.#detached.set(id, this.run.detach(id))
  }

  /** A body that runs again ends again: its last end counts. */
  noteEnd(id: string): void {
    this.#ended = [...this.#ended.filter((each) => each !== id), id]
  }

  /** For the fingerprint: what is in the background, and what of it is delivered. */
  backgroundInShort(): unknown[] {
    if (this.#detached.size === 0) return []
    const { background, transcript } = this.run
    const delivered = transcript.flatMap((message) => (message.type === 'user' ? [message.background?.toolUseID] : []))
    return background.list().map(({ toolUseID, status }) => {
      const { isRunning, isAbandoned, outcome, signal } = this.bodies.byId.get(toolUseID) ?? {}
      const body = [isRunning, isAbandoned, outcome, signal?.aborted]
      return [toolUseID, status, body, delivered.includes(toolUseID), this.#ended.indexOf(toolUseID)]
    })
  }

  get isAtEnd(): boolean {
    return this.result !== undefined
  }

  interrupt(): void {
    this.hasInterrupted = true
    this.end(() => this.run.interrupt())
  }

  leave(): void {
    this.hasReaderLeft = true
    this.end(() => void this.run.return())
  }

  /** Ends the query. After this the model must not be asked again. */
  end(act: () => void): void {
    this.catchUp()
    if (this.run.actor.getSnapshot().status === 'active') this.requestsAtAbort ??= this.model.held.requests.length
    act()
  }

  catchUp(): void {
    this.model.follow(this.run.actor.getSnapshot().context.transition?.reason)
    for (const { book } of this.attempts) {
      for (const call of book.calls) call.body = this.bodies.byId.get(call.id)
    }
  }

  moves(): Moves {
    return queryMoves(this)
  }

  fingerprint(): string {
    return queryFingerprint(this)
  }

  judge(): Breach[] {
    this.catchUp()
    const { invariants = queryInvariants } = this.setup
    const evidence = this.evidence()
    const ofTurns = this.attempts.flatMap(({ executor, book }) => {
      explainWaits(executor, book)
      return breachesOf(book, turnInvariants)
    })
    return [...breachesOf(evidence, invariants), ...ofTurns]
  }

  evidence(): QueryEvidence {
    const alive = [...this.bodies.byId.values()].filter(({ isRunning, isAbandoned }) => isRunning && !isAbandoned)
    return {
      transcript: this.run.transcript,
      messages: this.messages,
      requests: this.model.held.requests,
      turns: this.attempts.map(({ book }) => book),
      result: this.result,
      requestsAtAbort: this.requestsAtAbort,
      hasReaderLeft: this.hasReaderLeft,
      running: alive.map(({ id, signal }) => ({
        id,
        isAlone: isSeenAlone(this.#seen(id)),
        stopsAtInterrupt: this.#seen(id)?.stopsAtInterrupt === true && !this.#detached.has(id),
        isTold: signal.aborted,
        isDetached: this.#detached.has(id),
      })),
      background: [...this.#detached].map(([id, isTaken]) => this.#backgroundEvidence(id, isTaken)),
      ended: this.#ended,
      isActive: this.run.actor.getSnapshot().status === 'active',
      endedBy: this.requestsAtAbort === undefined ? undefined : this.hasInterrupted ? 'interrupt' : 'abort',
      said: this.said,
      leftovers: [
        ...(this.clock.pending > 0 ? [`${this.clock.pending} timers are still pending`] : []),
        ...(this.#listeners() > 0 ? [`${this.#listeners()} listeners are still on the host's signal`] : []),
        ...alive.map(({ id }) => `${id} still runs`),
      ],
    }
  }

  rankOf(move: string): number {
    const at = endings.findIndex((ending) => ending.test(move))
    return at < 0 ? never : at
  }

  #backgroundEvidence(id: string, isTaken: boolean): BackgroundEvidence {
    const { isRunning = false, signal, outcome } = this.bodies.byId.get(id) ?? {}
    const book = this.attempts.map((attempt) => attempt.book).find((each) => each.find(id) !== undefined)
    const tool = this.bodies.tools.find(({ name }) => name === book?.find(id)?.name)
    const isFinal = outcome !== undefined && !outcome.wasTold && (outcome.ok || tool?.retry === undefined)
    return {
      id,
      isTaken,
      isDiscarded: book?.run === 'discarded',
      isRunning,
      isTold: signal?.aborted === true,
      says: isFinal ? outcome.says : undefined,
      isTimed: tool?.timeout !== undefined,
    }
  }

  #seen(id: string): CallEvidence | undefined {
    return this.attempts.map(({ book }) => book.find(id)).find((call) => call !== undefined)
  }
}

/** Moves that lead to the end of a query, most direct first. */
const endings = [/ finishes$/, /^the model (says|asks|ends)/, /^time passes$/]

/** A body that no executor has announced counts as unsafe. */
const isSeenAlone = (call: CallEvidence | undefined): boolean => call === undefined || isAlone(call)
