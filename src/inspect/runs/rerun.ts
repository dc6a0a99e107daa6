import {
  type CallRecord,
  createTableRoot,
  deliverableOf,
  type ExecutorEvent,
  executorTable,
  RunRecord,
} from '../../../machines/index.ts'
import type { Frame } from '../frame.ts'
import { createRecorder } from '../recorder.ts'
import type { Inspectable } from '../run-watch.ts'
import { Agenda } from './agenda.ts'
import { HeadOfLine } from './head-of-line.ts'
import { ScriptedCall, type ScriptedRun } from './scripted-call.ts'
import type { SeenCall } from './seen-call.ts'
import type { SeenCommand, SeenRun } from './seen-run.ts'

export interface Changes {
  readonly maxConcurrency: number
  /** Undefined leaves a call as it was. */
  safe(call: SeenCall): boolean | undefined
  /** In microseconds. */
  readonly unseen: number | undefined
}

const nothing = (): void => undefined

/**
 * A recorded run once more: the production charts and books, with simulated time and the recorded world around them.
 * With `onFrame` a recorder watches it, as it watches any executor.
 */
export class Rerun implements ScriptedRun {
  readonly agenda = new Agenda()
  readonly unseen: number | undefined
  readonly calls: readonly ScriptedCall[]
  readonly #run: RunRecord
  readonly #head: HeadOfLine
  readonly #send: (event: ExecutorEvent) => void
  /** How many calls have come to their end. */
  ended = 0
  #leave = nothing
  #takeDue = -1
  #isOver = false

  constructor(seen: SeenRun, changes: Changes, onFrame?: (frame: Frame) => void) {
    this.unseen = changes.unseen
    this.#run = new RunRecord(changes.maxConcurrency, this.#runPort())
    this.#head = new HeadOfLine(this.#run)
    const actor = createTableRoot(executorTable(), { id: 'executor', input: { run: this.#run } })
    actor.start()
    this.#send = (event) => actor.send(event)
    this.calls = seen.calls.map((call) => new ScriptedCall(this, call, changes.safe(call)))
    if (onFrame !== undefined) {
      const recorder = createRecorder({ onFrame, now: () => this.agenda.now / 1_000, epoch: 0 })
      this.#leave = recorder.watch({ actor, on: () => nothing } as Inspectable, {
        title: `${seen.title}, what if`,
      }).leave
    }
    for (const call of this.calls) this.#schedule(call)
    for (const command of seen.commands) this.#scheduleCommand(command)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Goes on for so long, or to the end. */
  advance(maxMs = Number.POSITIVE_INFINITY): void {
    const until = performance.now() + maxMs
    for (let steps = 1; !this.#isOver; steps++) {
      this.#head.look()
      if (!this.agenda.step()) return this.#end()
      this.#read()
      if (steps % 64 === 0 && performance.now() > until) return
    }
  }

  stopTurn(reason: string): void {
    this.#send({ type: 'abort.userInterrupted', reason })
  }

  #runPort() {
    const wayOf = (call: CallRecord) => (call as ScriptedCall).way
    return {
      received: (call: CallRecord) => {
        wayOf(call).addedAt = this.agenda.now
      },
      started: (call: CallRecord) => {
        const way = wayOf(call)
        if (way.startedAt !== undefined) return
        way.startedAt = this.agenda.now
        const why = this.#head.reasonFor(call)
        if (why !== undefined) way.waitedFor = why
      },
      requeued: (call: CallRecord) => {
        ;(call as ScriptedCall).leave()
        this.#head.goBackTo(call)
      },
      completed: (call: CallRecord) => {
        wayOf(call).endedAt ??= this.agenda.now
        this.ended++
      },
      yielded: (call: CallRecord) => {
        wayOf(call).yieldedAt ??= this.agenda.now
      },
      settledInOrder: nothing,
      handOver: nothing,
      discarded: nothing,
    }
  }

  #schedule(call: ScriptedCall): void {
    const { addedAt, addedSeq, letGo } = call.seen
    this.agenda.add(addedAt, addedSeq, () => this.#send({ type: 'call.add', call }))
    if (letGo === undefined) return
    this.agenda.add(letGo.at, letGo.seq, () => {
      this.#head.goBackTo(call)
      this.#send(
        letGo.isWithdrawn ? { type: 'call.withdraw', call, because: 'withdrawn' } : { type: 'call.release', call },
      )
    })
  }

  /** What the chart did not take, or a call did, comes about by itself or not at all. */
  #scheduleCommand({ event, at, seq, isTaken, isInterrupt, by }: SeenCommand): void {
    if (!isTaken || by !== undefined) return
    this.agenda.add(at, seq, () => {
      if (event === 'abort.userInterrupted') this.stopTurn(isInterrupt ? 'interrupt' : 'aborted')
      if (event === 'abort.siblingError') this.#send({ type: 'abort.siblingError' })
      if (event === 'abort.streamingFallback') this.#send({ type: 'abort.streamingFallback' })
    })
  }

  /** A reader takes what stands at the cursor as long after it was ready as it did in the recording. */
  #read(): void {
    const next = deliverableOf(this.#run)
    if (!next.ready || this.#takeDue === this.#run.cursor) return
    this.#takeDue = this.#run.cursor
    const { readyAt, yieldedAt, yieldedSeq = 0 } = (next.call as ScriptedCall).seen
    if (readyAt === undefined || yieldedAt === undefined) return
    this.agenda.add(this.agenda.now + yieldedAt - readyAt, yieldedSeq, () => this.#send({ type: 'results.take' }))
  }

  #end(): void {
    this.#isOver = true
    this.#leave()
  }
}
