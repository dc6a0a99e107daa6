import type { CallRecord } from './call-record.ts'
import { WaitingLine } from './waiting-line.ts'

/** What the executor chart tells the world around it. Like every port it takes note and returns. */
export interface RunPort {
  received(call: CallRecord): void
  started(call: CallRecord): void
  requeued(call: CallRecord): void
  completed(call: CallRecord): void
  /** This call and every call before it are completed: its context modifier is due. */
  settledInOrder(call: CallRecord): void
  handOver(call: CallRecord): void
  yielded(call: CallRecord): void
  discarded(): void
}

/**
 * The executor chart's books: who waits, who executes, how far the cursor is. One object per run, written only by
 * the actions of the executor chart and in place, because an immutable copy per event is O(N) each.
 */
export class RunRecord {
  readonly calls: CallRecord[] = []
  readonly line = new WaitingLine()
  readonly executing = new Set<CallRecord>()
  exclusive: CallRecord | undefined
  /** How many of the executing calls stop when the user interrupts. */
  interruptible = 0
  /** The first call whose result has not been handed over. */
  cursor = 0
  /** The first call that is not completed, or has one before it that is not. */
  settled = 0
  readonly maxConcurrency: number
  readonly port: RunPort

  constructor(maxConcurrency: number, port: RunPort) {
    this.maxConcurrency = maxConcurrency
    this.port = port
  }

  receive(call: CallRecord): void {
    call.index = this.calls.length
    this.calls.push(call)
    this.port.received(call)
  }

  start(call: CallRecord): void {
    call.stage = 'executing'
    call.hasStarted = true
    this.executing.add(call)
    if (!call.isSafe) this.exclusive = call
    if (call.yieldsToInterrupt) this.interruptible++
    this.port.started(call)
  }

  /** Back to its place in the line, now as an unsafe call. */
  requeue(call: CallRecord): void {
    this.#stopExecuting(call)
    call.isSafe = false
    call.stage = 'queued'
    this.line.enter(call)
    this.port.requeued(call)
  }

  complete(call: CallRecord): void {
    if (call.stage === 'executing') this.#stopExecuting(call)
    call.stage = 'completed'
    this.port.completed(call)
    for (let next = this.calls[this.settled]; next?.stage === 'completed'; next = this.calls[++this.settled]) {
      this.port.settledInOrder(next)
    }
  }

  yield(call: CallRecord): void {
    call.stage = 'yielded'
    this.cursor++
    this.port.yielded(call)
  }

  /** Takes those that are meant and wait out of the line; gives back all that are meant and not completed. */
  withdraw(isMeant: (call: CallRecord) => boolean): CallRecord[] {
    const meant = this.calls.slice(this.settled).filter((call) => isLive(call) && isMeant(call))
    for (const call of meant) if (call.stage !== 'executing') call.stage = 'withdrawn'
    return meant
  }

  #stopExecuting(call: CallRecord): void {
    this.executing.delete(call)
    if (this.exclusive === call) this.exclusive = undefined
    if (call.yieldsToInterrupt) this.interruptible--
  }
}

const isLive = ({ stage }: CallRecord): boolean => stage !== 'completed' && stage !== 'yielded'
