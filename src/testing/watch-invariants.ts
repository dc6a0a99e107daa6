import type { AnyActorRef, InspectionEvent } from 'xstate'
import type { CallRecord, Ending } from '../../machines/index.ts'
import type { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'
import { EvidenceBook, pathOf } from './evidence-book.ts'
import { type Breach, breachesInWords, breachesOf, type Invariant } from './invariant.ts'
import { turnInvariants } from './invariants.ts'
import { seeMessages } from './see-messages.ts'
import type { RunState, TurnEvidence } from './turn-evidence.ts'

export interface InvariantWatch {
  /** The evidence so far. */
  readonly evidence: TurnEvidence
  /** The current breaches. Call it between steps: not from tools, hooks or callbacks. */
  breaches(): Breach[]
  /** Throws on a breach. */
  assert(): void
  /** Detaches and restores the executor. */
  leave(): void
}

const books = new WeakMap<StreamingToolExecutor, EvidenceBook>()

/**
 * Watches the invariants of a live executor from now on. Call it before the first call is added: earlier events are known
 * only as far as the charts show them.
 */
export function watchInvariants(
  executor: StreamingToolExecutor,
  invariants: readonly Invariant[] = turnInvariants,
): InvariantWatch {
  const book = new EvidenceBook(executor.actor.getSnapshot().context.run.maxConcurrency)
  const stop = keepBook(executor, book)
  const watch: InvariantWatch = {
    evidence: book,
    breaches() {
      explainWaits(executor, book)
      return breachesOf(book, invariants)
    },
    assert: () => throwAt(watch.breaches()),
    leave() {
      stop()
      books.delete(executor)
    },
  }
  books.set(executor, book)
  return watch
}

/** Records what an executor does. Returns a function that stops. */
export function keepBook(executor: StreamingToolExecutor, book: EvidenceBook): () => void {
  const { actor } = executor
  lookAt(executor, book)
  const inspection = actor.system.inspect((event: InspectionEvent) => {
    // an observer that throws would put the chart into its error state
    try {
      see(book, actor as AnyActorRef, event)
    } catch (error) {
      book.leftovers.push(`the watch failed: ${String(error)}`)
    }
  })
  const stopSeeing = seeMessages(executor, book)
  return () => {
    inspection.unsubscribe()
    stopSeeing()
  }
}

/** Throws on a breach. Uses all evidence if the executor is watched, else its current state. */
export function assertInvariants(
  executor: StreamingToolExecutor,
  invariants: readonly Invariant[] = turnInvariants,
): void {
  const known = books.get(executor)
  if (known !== undefined) {
    explainWaits(executor, known)
    return throwAt(breachesOf(known, invariants))
  }
  const book = new EvidenceBook(executor.actor.getSnapshot().context.run.maxConcurrency)
  lookAt(executor, book)
  explainWaits(executor, book)
  // without a watch it is unknown what readers got
  throwAt(breachesOf(book, invariants).filter(({ invariant }) => !needsReaders.has(invariant)))
}

const needsReaders = new Set(['one result per call', 'transcript valid'])

function throwAt(breaches: readonly Breach[]): void {
  if (breaches.length > 0) throw new Error(breachesInWords(breaches))
}

/** Asks the executor why each call waits. */
export function explainWaits(executor: StreamingToolExecutor, book: EvidenceBook): void {
  const waits = book.calls.flatMap(({ id }) => {
    const admission = executor.explain(id)
    return admission === undefined ? [] : [[id, admission] as const]
  })
  book.explained(new Map(waits))
}

/** Fills the evidence from the current state of the charts. */
function lookAt({ actor }: StreamingToolExecutor, book: EvidenceBook): void {
  const { context, value } = actor.getSnapshot()
  for (const record of context.run.calls) {
    const call = book.announced(record)
    const snapshot = record.ref?.getSnapshot()
    book.moved(call, pathOf(snapshot?.value ?? 'queued'), record)
    call.ending = snapshot?.context.ending
  }
  const { gate, run } = value as { gate: string; run: RunState }
  book.executorMoved(gate, run)
}

function see(book: EvidenceBook, executor: AnyActorRef, event: InspectionEvent): void {
  if (event.type === '@xstate.event') return seeEvent(book, event.actorRef as AnyActorRef, event.event)
  if (event.type !== '@xstate.microstep') return
  const snapshot = event.snapshot as unknown as { value: unknown; context: { call?: CallRecord; ending?: Ending } }
  if (event.actorRef === executor) {
    const { gate, run } = snapshot.value as { gate: string; run: RunState }
    const { call: added } = event.event as { call?: CallRecord }
    if (event.event.type === 'call.add' && added !== undefined && added.index >= 0) book.announced(added)
    if (event.event.type === 'call.release' && added !== undefined)
      book.announced(added).isHeld = added.stage === 'held'
    // its chart moved before the executor stored its new class
    const isChanged = event.event.type === 'call.requeued' || event.event.type === 'call.rekeyed'
    if (isChanged && added !== undefined) book.reclassified(added)
    return book.executorMoved(gate, run)
  }
  const record = snapshot.context?.call
  if (record === undefined) return
  const call = book.announced(record)
  call.ending = snapshot.context.ending
  book.moved(call, pathOf(snapshot.value), record)
}

function seeEvent(
  book: EvidenceBook,
  actor: AnyActorRef,
  event: { readonly type: string; readonly call?: unknown },
): void {
  if (event.type === 'call.add') return
  const record: CallRecord | undefined = actor.getSnapshot()?.context?.call
  if (record === undefined) return
  const call = book.announced(record)
  if (event.type === 'call.abort') book.told(call)
  if (event.type === 'permission.denied') book.denied(call)
  if (event.type === 'call.timedOut') call.hasTimedOut = true
}
