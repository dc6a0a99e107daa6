import { assign, enqueueActions, setup } from 'xstate'
import type { AbortCause } from '../call/abort-precedence.ts'
import type { CallRecord } from '../call/call-record.ts'
import { hasPlace, type Lane, laneOf, refusalOf } from './admission.ts'
import type { AddedCall, ExecutorEvent, NamedSiblings, Rekeyed, Requeued } from './executor-events.ts'
import type { ExecutorSchedule } from './executor-schedule.ts'

export interface ExecutorContext {
  readonly run: ExecutorSchedule
  /** Number of started calls. XState re-evaluates `always` only if the context changed. */
  readonly starts: number
  /** The strongest abort so far: calls added later are answered with it. */
  readonly cause: AbortCause | undefined
}

export interface ExecutorInput {
  readonly run: ExecutorSchedule
}

export const siblingCause = (description: string | undefined): AbortCause => ({
  kind: 'sibling_error',
  reason: 'sibling_error',
  ...(description !== undefined && { description }),
})

/** The parts of the executor chart: its actions write to the schedule, its guards read it. */
export const executorSetup = setup({
  types: {
    context: {} as ExecutorContext,
    input: {} as ExecutorInput,
    events: {} as ExecutorEvent,
    tags: {} as 'accepting' | 'answering',
  },
  actions: {
    // Outside `children` on purpose: XState copies that map at every spawn, which is quadratic over a turn. An
    // `enqueueActions` that enqueues nothing, because XState warns about actors created inside a plain action.
    receive: enqueueActions(({ context: { run }, self }, call: CallRecord) => {
      const actor = run.port.createCall(call, self)
      call.ref = actor
      run.receive(call)
      actor.start()
    }),
    enqueue: ({ context: { run } }, call: CallRecord) => {
      if (!call.port.isAnswered) run.enqueue(call)
    },
    release: ({ context: { run } }, call: CallRecord) => {
      call.stage = 'queued'
      run.enqueue(call)
    },
    withdraw: enqueueActions(({ enqueue }, { call, because }: { call: CallRecord; because: string }) => {
      call.stage = 'withdrawn'
      const cause: AbortCause = { kind: 'withdrawn', reason: 'withdrawn', description: because }
      if (call.ref !== undefined) enqueue.sendTo(call.ref, { type: 'call.abort', cause })
    }),
    withdrawRest: enqueueActions(({ context: { run }, enqueue }, because: string) => {
      const cause: AbortCause = { kind: 'withdrawn', reason: 'withdrawn', description: because }
      for (const call of run.withdraw(({ hasBegun }) => !hasBegun)) {
        if (call.ref !== undefined) enqueue.sendTo(call.ref, { type: 'call.abort', cause })
      }
    }),
    startNext: enqueueActions(({ context: { run, starts }, enqueue }) => {
      const call = run.queue.next
      if (call?.ref === undefined) return
      run.start(call)
      enqueue.assign({ starts: starts + 1 })
      enqueue.sendTo(call.ref, { type: 'call.start' })
    }),
    requeue: ({ context: { run } }, { call, change }: Requeued) => run.requeue(call, change),
    rekey: ({ context: { run } }, { call, change }: Rekeyed) => run.rekey(call, change),
    pause: ({ context: { run } }, call: CallRecord) => run.pause(call),
    resume: ({ context: { run } }, call: CallRecord) => run.resume(call),
    complete: ({ context: { run } }, call: CallRecord) => run.complete(call),
    // No merging: transitions of `run` only lead to a stronger cause.
    holdCause: assign({ cause: (_, cause: AbortCause): AbortCause => cause }),
    abortCalls: enqueueActions(({ context: { run, cause }, enqueue }, spared: CallRecord | undefined) => {
      for (const call of run.withdraw((each) => each !== spared)) {
        if (call.ref !== undefined) enqueue.sendTo(call.ref, { type: 'call.abort', cause })
      }
    }),
    interruptCalls: enqueueActions(({ context: { run, cause }, enqueue }) => {
      for (const call of run.withdraw((each) => each.yieldsToInterrupt || each.stage === 'executing')) {
        if (call.ref !== undefined) enqueue.sendTo(call.ref, { type: 'call.interrupt', cause })
      }
    }),
    abortSiblings: enqueueActions(({ context: { run }, enqueue }, { siblings, description }: NamedSiblings) => {
      const named = new Set(siblings)
      for (const call of run.withdraw(({ id }) => named.has(id))) {
        if (call.ref !== undefined) enqueue.sendTo(call.ref, { type: 'call.abort', cause: siblingCause(description) })
      }
    }),
    answerWithCause: enqueueActions(({ context, enqueue }, { call, cause = context.cause }: AddedCall) => {
      if (call.stage !== 'completed') call.stage = 'withdrawn'
      if (call.ref !== undefined) enqueue.sendTo(call.ref, { type: 'call.abort', cause })
    }),
    handOver: ({ context: { run } }) => {
      const call = run.calls[run.cursor]
      if (call !== undefined) run.port.handOver(call)
    },
    moveCursor: enqueueActions(({ context: { run }, enqueue }) => {
      const call = run.calls[run.cursor]
      if (call?.ref === undefined) return
      run.yield(call)
      enqueue.sendTo(call.ref, { type: 'call.yield' })
    }),
    silence: ({ context: { run } }) => run.port.discarded(),
  },
  guards: {
    canExecuteTool: ({ context: { run } }, lane: Lane) => {
      // the cheapest question first: it is asked after every event, and a long queue is almost always full
      if (!hasPlace(run)) return false
      const next = run.queue.next
      return next !== undefined && laneOf(next) === lane && refusalOf(next, run) === undefined
    },
    // anyone with the actor may send any event
    isNewCall: ({ context: { run } }, call: unknown) => run.isNew(call),
    mayRun: ({ context: { run } }, { call, cause }: { call: unknown; cause?: unknown }) =>
      cause === undefined && run.isNew(call),
    namesSiblings: (_, { siblings }: { siblings: unknown }) => Array.isArray(siblings),
    isOwnCall: ({ context: { run } }, call: unknown) => run.isOwn(call),
    nothingExecutes: ({ context: { run } }) => run.executing.size === 0,
    isHeld: ({ context: { run } }, call: unknown) => run.isOwn(call) && call.stage === 'held',
    isWaiting: ({ context: { run } }, call: unknown) =>
      run.isOwn(call) && (call.stage === 'held' || call.stage === 'queued'),
    isInterrupt: (_, reason: unknown) => reason === 'interrupt',
    yieldsToInterrupt: ({ context: { run } }, call: unknown) => run.isNew(call) && call.yieldsToInterrupt,
    lastMessageIsReady: ({ context: { run } }) => run.isLastReady,
    messageIsReady: ({ context: { run } }) => run.isReady,
  },
})
