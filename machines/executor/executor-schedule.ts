import type { AnyActorRef } from 'xstate'
import type { CallRecord, Reclassification } from '../call/call-record.ts'
import { isExclusive } from '../call/resource-keys.ts'
import { laneOf } from './admission.ts'
import type { CallQueue } from './call-queue.ts'
import { KeyedQueue } from './keyed-queue.ts'
import { WaitingQueue } from './waiting-queue.ts'

/** The reports of the executor chart to its surroundings. Like every port it only records and returns. */
export interface RunPort {
  /** An actor of the call chart, not started, with the executor's actor as its parent. */
  createCall(call: CallRecord, executor: AnyActorRef): AnyActorRef
  received(call: CallRecord): void
  started(call: CallRecord): void
  requeued(call: CallRecord): void
  completed(call: CallRecord): void
  /** This call and every call before it are completed: its context modifier is applied now. */
  completedInOrder(call: CallRecord): void
  handOver(call: CallRecord): void
  yielded(call: CallRecord): void
  discarded(): void
}

/** Shared, because hardly any call waits for a person, and an executor has a set only if one does. */
const nobody: ReadonlySet<CallRecord> = new Set()

/**
 * The executor chart's schedule: waiting calls, executing calls, the cursor. One object per run, written in place and
 * only by the executor chart's actions, because an immutable copy per event is O(N) each.
 */
export class ExecutorSchedule {
  readonly calls: CallRecord[] = []
  /** Becomes a `KeyedQueue` with the first call that names resources: without any, a simpler rule is enough. */
  queue: CallQueue = new WaitingQueue()
  readonly executing = new Set<CallRecord>()
  /** Executing calls that wait for a person: they do not count for `maxConcurrency`. */
  get paused(): ReadonlySet<CallRecord> {
    return this.#paused ?? nobody
  }
  exclusive: CallRecord | undefined
  /** Number of executing calls that stop when the user interrupts. */
  interruptible = 0
  /** The first call whose result has not been delivered. */
  cursor = 0
  /** The first call that is not completed, or that has an earlier call that is not. */
  completedUpTo = 0
  readonly maxConcurrency: number
  readonly port: RunPort
  /** A call of this run has named resources. */
  hasKeys = false
  #paused: Set<CallRecord> | undefined

  constructor(maxConcurrency: number, port: RunPort) {
    this.maxConcurrency = maxConcurrency
    this.port = port
  }

  /** The call at the cursor has a message for a reader, which may be handed over. */
  get isReady(): boolean {
    const call = this.calls[this.cursor]
    return call?.stage === 'completed' && call.port.isDurable
  }

  /** That message is the last one of its call. */
  get isLastReady(): boolean {
    return this.isReady && (this.calls[this.cursor]?.port.unread ?? 0) <= 1
  }

  /** A record that no run has received yet. */
  isNew(call: unknown): call is CallRecord {
    return isRecord(call) && call.index === -1
  }

  isOwn(call: unknown): call is CallRecord {
    return isRecord(call) && this.calls[call.index] === call
  }

  receive(call: CallRecord): void {
    call.index = this.calls.length
    this.calls.push(call)
    this.port.received(call)
  }

  /** Puts a call into the queue at its place in the model's order. */
  enqueue(call: CallRecord): void {
    if (call.keys === undefined || this.hasKeys) return this.queue.enter(call)
    this.hasKeys = true
    this.queue = new KeyedQueue(this.calls.slice(this.completedUpTo))
  }

  start(call: CallRecord): void {
    call.stage = 'executing'
    call.hasStarted = true
    this.executing.add(call)
    this.queue.started(call)
    if (isExclusive(call)) this.exclusive = call
    if (call.yieldsToInterrupt) this.interruptible++
    this.port.started(call)
  }

  pause(call: CallRecord): void {
    if (call.stage !== 'executing') return
    this.#paused ??= new Set()
    this.#paused.add(call)
  }

  resume(call: CallRecord): void {
    this.#paused?.delete(call)
  }

  /** Back to its place in the queue: it has other resources now, or was answered when no slot was free. */
  requeue(call: CallRecord, change: Reclassification | undefined): void {
    this.#stopExecuting(call)
    if (change !== undefined) Object.assign(call, change)
    call.stage = 'queued'
    this.enqueue(call)
    this.port.requeued(call)
  }

  /** Whether a call that executes must queue again to use other resources. */
  mustQueueAgain(call: CallRecord, change: Reclassification): boolean {
    // the gate opens for another lane only from the queue
    if (!this.hasKeys || laneOf(call) !== laneOf(change)) return true
    return this.queue.isInTheWay(call, change)
  }

  /** It goes on with other resources: whoever waited for the old ones may start. */
  rekey(call: CallRecord, change: Reclassification): void {
    if (call.stage !== 'executing') return
    Object.assign(call, change)
    this.queue.rekeyed(call)
  }

  complete(call: CallRecord): void {
    if (call.stage === 'executing') this.#stopExecuting(call)
    else this.queue.left(call)
    call.stage = 'completed'
    this.port.completed(call)
    for (
      let next = this.calls[this.completedUpTo];
      next?.stage === 'completed';
      next = this.calls[++this.completedUpTo]
    ) {
      this.port.completedInOrder(next)
    }
  }

  yield(call: CallRecord): void {
    call.stage = 'yielded'
    this.cursor++
    this.port.yielded(call)
  }

  /** Removes matching calls from the queue; returns all unfinished matches. */
  withdraw(isMeant: (call: CallRecord) => boolean): CallRecord[] {
    const meant = this.calls.slice(this.completedUpTo).filter((call) => isLive(call) && isMeant(call))
    for (const call of meant) if (call.stage !== 'executing') call.stage = 'withdrawn'
    return meant
  }

  #stopExecuting(call: CallRecord): void {
    this.executing.delete(call)
    this.queue.left(call)
    this.resume(call)
    if (this.exclusive === call) this.exclusive = undefined
    if (call.yieldsToInterrupt) this.interruptible--
  }
}

const isLive = ({ stage }: CallRecord): boolean => stage !== 'completed' && stage !== 'yielded'

const isRecord = (call: unknown): call is CallRecord =>
  typeof (call as CallRecord | undefined)?.port?.conclude === 'function'
