import type { AnyActorRef } from 'xstate'
import {
  type CallRecord,
  callChart,
  deliverableOf,
  type ExecutorEvent,
  ExecutorSchedule,
  executorChart,
  hasPlace,
  type Reclassification,
} from '../../../machines/index.ts'
import type { ChartEngine } from '../../chart-engine/chart-engine.ts'
import { chooseEngine } from '../../chart-engine/choose-engine.ts'
import type { Frame } from '../frames/frame.ts'
import { createRecorder } from '../recorder/recorder.ts'
import type { Inspectable } from '../recorder/run-watch.ts'
import { Agenda } from './agenda.ts'
import { HeadOfLine } from './head-of-line.ts'
import { type BodyBy, type CallChange, ScriptedCall, type ScriptedRun } from './scripted-call.ts'
import type { SeenCall } from './seen-call.ts'
import type { SeenCommand, SeenRun } from './seen-run.ts'

export interface Changes {
  readonly maxConcurrency: number
  of(call: SeenCall): CallChange
  /** Because of the agent inside a body. */
  readonly bodyBy: BodyBy
  /** In microseconds. */
  readonly unseen: number | undefined
}

const nothing = (): void => undefined

/**
 * Runs a recorded run again: the production charts and schedule, in simulated time, with the recorded inputs from outside.
 * With `onFrame`, a recorder watches it like any executor.
 */
export class Rerun implements ScriptedRun {
  readonly agenda = new Agenda()
  readonly unseen: number | undefined
  readonly bodyBy: BodyBy
  readonly calls: readonly ScriptedCall[]
  readonly #run: ExecutorSchedule
  readonly #head: HeadOfLine
  readonly #send: (event: ExecutorEvent) => void
  readonly deliver: ScriptedRun['deliver']
  /** How many calls have ended. */
  ended = 0
  #leave = nothing
  #takeDue = -1
  #isOver = false

  constructor(seen: SeenRun, changes: Changes, onFrame?: (frame: Frame) => void) {
    this.unseen = changes.unseen
    this.bodyBy = changes.bodyBy
    const engine = chooseEngine()
    this.deliver = engine.send
    this.#run = new ExecutorSchedule(changes.maxConcurrency, this.#runPort(engine))
    this.#head = new HeadOfLine(this.#run)
    const actor = engine.createRoot(executorChart(), { id: 'executor', input: { run: this.#run } })
    actor.start()
    this.#send = actor.send
    this.calls = seen.calls.map((call) => new ScriptedCall(this, call, changes.of(call)))
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

  /** Runs for up to this many milliseconds, or to the end. */
  advance(maxMs = Number.POSITIVE_INFINITY): void {
    const until = performance.now() + maxMs
    for (let steps = 1; !this.#isOver; steps++) {
      this.#head.look()
      if (!this.agenda.step()) return this.#end()
      this.#read()
      if (steps % 64 === 0 && performance.now() > until) return
    }
  }

  get hasPlace(): boolean {
    return hasPlace(this.#run)
  }

  mustQueueAgain(call: CallRecord, change: Reclassification): boolean {
    return this.#run.mustQueueAgain(call, change)
  }

  stopTurn(reason: string): void {
    this.#send({ type: 'abort.userInterrupted', reason })
  }

  #runPort(engine: ChartEngine) {
    const wayOf = (call: CallRecord) => (call as ScriptedCall).way
    return {
      createCall: (call: CallRecord, executor: AnyActorRef) =>
        engine.createChild(callChart(), executor, 'call', { call, executor }),
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
      completedInOrder: nothing,
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

  /** Skips commands that the chart ignored and commands that calls caused: those follow from the rerun itself. */
  #scheduleCommand({ event, at, seq, isTaken, isInterrupt, by }: SeenCommand): void {
    if (!isTaken || by !== undefined) return
    this.agenda.add(at, seq, () => {
      if (event === 'abort.userInterrupted') this.stopTurn(isInterrupt ? 'interrupt' : 'aborted')
      if (event === 'abort.siblingError') this.#send({ type: 'abort.siblingError' })
      if (event === 'calls.withdraw') this.#send({ type: 'calls.withdraw', because: 'withdrawn' })
      if (event === 'abort.streamingFallback') this.#send({ type: 'abort.streamingFallback' })
    })
  }

  /** A reader takes each result with the same delay after it was ready as in the recording. */
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
