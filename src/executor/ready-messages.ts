import { deliverableOf, type ExecutorSchedule } from '../../machines/index.ts'
import type { IdsAndTime } from '../messages/ids-and-time.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'
import type { ContextLedger } from './context-ledger.ts'
import { Delivery, type MessageSource, type MessageUpdate } from './delivery.ts'
import type { ExecutorEmitter } from './events.ts'
import type { ExecutorRunPort } from './executor-run-port.ts'
import type { OwnWaits } from './own-waits.ts'
import type { ProgressBuffer } from './progress-buffer.ts'
import type { UnreadResults } from './unread-results.ts'

interface MessageParts {
  readonly run: ExecutorSchedule
  readonly port: ExecutorRunPort
  readonly progress: ProgressBuffer
  readonly ledger: ContextLedger
  readonly unread: UnreadResults
  readonly emitter: ExecutorEmitter
  readonly ownWaits: OwnWaits
  readonly idsAndTime: IdsAndTime
  /** Asks the chart for the next message at the cursor. */
  request(): void
}

/** The messages of a turn that are ready for a reader: progress, and the results at the cursor. */
export class ReadyMessages implements MessageSource {
  readonly delivery = new Delivery(this)
  /** No message leaves the executor any more. */
  isDiscarded = false
  readonly #parts: MessageParts

  constructor(parts: MessageParts) {
    this.#parts = parts
  }

  /** Progress first, because none may come after the result of its call. Messages that the chart handed over come next. */
  take(): MessageUpdate | undefined {
    const { idsAndTime, progress, port, run, emitter, ledger } = this.#parts
    // an id or a time is being requested from the host: the message at the cursor may be incomplete
    if (idsAndTime.isBusy?.() === true) return this.#refuse()
    for (;;) {
      const message = progress.shift()
      if (message !== undefined) {
        emitter.emit('message', { message, toolUseID: message.parentToolUseID })
        return { message, newContext: ledger.current }
      }
      const handedOver = port.handedOver
      // skips an event to the chart whose outcome is known
      if (port.handed.length === 0 && run.isReady) this.#parts.request()
      const call = port.handed.shift()
      if (call !== undefined) return this.#update(call)
      // a callback of the host took the message; more may be ready
      if (port.handedOver === handedOver || this.isDiscarded) return undefined
    }
  }

  get hasMessage(): boolean {
    const { progress, port, run } = this.#parts
    return port.handed.length > 0 || run.isReady || !progress.isEmpty
  }

  get isDrained(): boolean {
    if (this.isDiscarded) return true
    const next = deliverableOf(this.#parts.run)
    return !next.ready && next.because === 'allYielded' && this.#parts.port.handed.length === 0
  }

  fallsAsleep(): ToolCall | undefined {
    return this.#parts.ownWaits.begin()
  }

  wakesUp(inside: ToolCall): void {
    this.#parts.ownWaits.end(inside)
  }

  waitsForItself(inside: object): boolean {
    const { calls, cursor } = this.#parts.run
    return calls[cursor] === inside && calls[cursor]?.stage === 'executing' && this.#parts.ownWaits.isStuck(inside)
  }

  discard(): void {
    this.isDiscarded = true
    this.#parts.progress.clear()
    this.#parts.port.handed.clear()
    this.#parts.unread.clear()
  }

  #update(call: ToolCall): MessageUpdate {
    const { ledger, unread, emitter } = this.#parts
    ledger.applyDue()
    const newContext = call.contextAfter ?? ledger.current
    const message = call.takeMessage()
    if (call.unread === 0) unread.taken(call)
    if (emitter.has('message')) emitter.emit('message', { message, toolUseID: call.id })
    return { message, newContext }
  }

  /** The reader is woken when the host's function has returned. */
  #refuse(): undefined {
    queueMicrotask(() => this.delivery.wake())
    return undefined
  }
}
