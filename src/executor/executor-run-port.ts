import type { AnyActorRef } from 'xstate'
import { type CallRecord, callChart, type RunPort } from '../../machines/index.ts'
import { Fifo } from '../base/fifo.ts'
import type { Outbox } from '../base/outbox.ts'
import type { ChartEngine } from '../chart-engine/chart-engine.ts'
import type { CallReports } from '../pipeline/call-reports.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'
import type { ContextLedger } from './context-ledger.ts'
import type { InProgress } from './in-progress.ts'
import type { UnreadResults } from './unread-results.ts'

/** The parts of the executor that are notified about its calls. */
export interface RunParts {
  readonly engine: ChartEngine
  readonly ledger: ContextLedger
  readonly outbox: Outbox
  readonly report: CallReports
  readonly unread: UnreadResults
  /** A function, because the indicators read the schedule, which is created with this port. */
  readonly inProgress: () => InProgress
  readonly onDiscard: () => void
}

/** The port of the executor chart: records inside the transition, and leaves user code to the outbox. */
export class ExecutorRunPort implements RunPort {
  /** The number of calls that are not completed. */
  live = 0
  /** Calls with a message that the chart has handed over and no reader has taken yet. */
  readonly handed = new Fifo<ToolCall>()
  /** The number of messages that the chart has handed over. */
  handedOver = 0
  readonly #parts: RunParts

  constructor(parts: RunParts) {
    this.#parts = parts
  }

  readonly #applyDue = (): void => this.#parts.ledger.applyDue()

  createCall(call: CallRecord, executor: AnyActorRef): AnyActorRef {
    return this.#parts.engine.createChild(callChart(), executor, 'call', { call, executor })
  }

  received(record: CallRecord): void {
    this.live++
    this.#parts.ledger.received(asCall(record))
  }

  started({ id }: CallRecord): void {
    this.#parts.inProgress().begin(id)
  }

  requeued(record: CallRecord): void {
    const call = asCall(record)
    call.forgetContext()
    this.#parts.outbox.push(() => this.#parts.report.left(call))
    this.#parts.inProgress().end(call.id)
  }

  completed(record: CallRecord): void {
    this.live--
    this.#parts.unread.completed(asCall(record))
  }

  completedInOrder(record: CallRecord): void {
    this.#parts.ledger.completedInOrder(asCall(record))
    this.#parts.outbox.push(this.#applyDue)
  }

  handOver(record: CallRecord): void {
    const call = asCall(record)
    call.unread--
    this.handedOver++
    this.handed.push(call)
  }

  yielded({ id, hasStarted }: CallRecord): void {
    if (hasStarted) this.#parts.inProgress().end(id)
  }

  discarded(): void {
    this.#parts.onDiscard()
  }
}

/** Every record of a run is a call of its executor. */
const asCall = (record: CallRecord): ToolCall => record as ToolCall
