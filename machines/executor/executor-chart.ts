import { assign, enqueueActions, setup } from 'xstate'
import type { AbortCause } from '../call/abort-precedence.ts'
import type { CallRecord, Reclassification } from '../call/call-record.ts'
import { once } from '../once.ts'
import { hasPlace, type Lane, laneOf, refusalOf } from './admission.ts'
import type { ExecutorSchedule } from './executor-schedule.ts'

export type ExecutorEvent =
  /** With a `cause` it is answered with that cause: a failed call named it among those it cancels. */
  | { type: 'call.add'; call: CallRecord; cause?: AbortCause }
  | { type: 'call.release'; call: CallRecord }
  | { type: 'call.withdraw'; call: CallRecord; because: string }
  /** The reply broke off: calls whose body has not started never run. */
  | { type: 'calls.withdraw'; because: string }
  | { type: 'call.requeued'; call: CallRecord; change: Reclassification | undefined }
  /** A call goes on with other resources. */
  | { type: 'call.rekeyed'; call: CallRecord; change: Reclassification }
  /** A call that waited for a person has its answer. */
  | { type: 'call.paused'; call: CallRecord }
  | { type: 'call.resumed'; call: CallRecord }
  | { type: 'call.completed'; call: CallRecord }
  | { type: 'abort.userInterrupted'; reason: unknown; by?: CallRecord }
  | { type: 'abort.siblingError'; by?: CallRecord; description?: string }
  /** Only the calls with these ids. */
  | { type: 'abort.siblings'; by?: CallRecord; description: string; siblings: readonly string[] }
  /** `reason` is what the signals of the calls carry. */
  | { type: 'abort.streamingFallback'; reason?: unknown }
  | { type: 'results.take' }

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

type AddedCall = Extract<ExecutorEvent, { type: 'call.add' }>
type Requeued = Extract<ExecutorEvent, { type: 'call.requeued' }>
type Rekeyed = Extract<ExecutorEvent, { type: 'call.rekeyed' }>
type NamedSiblings = Extract<ExecutorEvent, { type: 'abort.siblings' }>

const siblingCause = (description: string | undefined): AbortCause => ({
  kind: 'sibling_error',
  reason: 'sibling_error',
  ...(description !== undefined && { description }),
})

const executorSetup = setup({
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

const callOf = ({ event }: { event: { call: CallRecord } }): CallRecord => event.call
const ofOwnCall = { guard: { type: 'isOwnCall', params: callOf } } as const
const everyone = { type: 'abortCalls', params: undefined } as const
/** The call that is the cause keeps its own result. */
const everyoneElse = { type: 'abortCalls', params: ({ event }: { event: { by?: CallRecord } }) => event.by } as const

const mayStart = (lane: Lane) => ({ type: 'canExecuteTool', params: lane }) as const
const toExclusive = { guard: mayStart('exclusive'), target: 'exclusive', actions: 'startNext' } as const
const toShared = { guard: mayStart('shared'), target: 'shared', actions: 'startNext' } as const
const toOpen = { guard: 'nothingExecutes', target: 'open' } as const

const enqueueCall = {
  guard: { type: 'mayRun', params: ({ event }: { event: AddedCall }) => event },
  actions: [
    { type: 'receive', params: callOf },
    { type: 'enqueue', params: callOf },
  ],
} as const
const releaseCall = {
  guard: { type: 'isHeld', params: callOf },
  actions: { type: 'release', params: callOf },
} as const
const withdrawCall = {
  guard: { type: 'isWaiting', params: callOf },
  actions: { type: 'withdraw', params: ({ event }: { event: { call: CallRecord; because: string } }) => event },
} as const
const withdrawRest = {
  actions: { type: 'withdrawRest', params: ({ event }: { event: { because: string } }) => event.because },
} as const
const answerCall = {
  guard: { type: 'isNewCall', params: callOf },
  actions: [
    { type: 'receive', params: callOf },
    { type: 'answerWithCause', params: ({ event }: { event: AddedCall }) => event },
  ],
} as const
const abortNamed = {
  guard: { type: 'namesSiblings', params: ({ event }: { event: NamedSiblings }) => event },
  actions: { type: 'abortSiblings', params: ({ event }: { event: NamedSiblings }) => event },
} as const

const userCause = ({ event }: { event: { reason: unknown } }): AbortCause => ({
  kind: 'user_interrupted',
  reason: event.reason,
})
const holdUserCause = { type: 'holdCause', params: userCause } as const

const toInterrupted = {
  guard: { type: 'isInterrupt', params: ({ event }: { event: { reason: unknown } }) => event.reason },
  target: 'interrupted',
  actions: [holdUserCause, 'interruptCalls'],
} as const
const toAborted = { target: 'aborted', actions: [holdUserCause, everyoneElse] } as const
const toSiblingErrored = {
  target: 'siblingErrored',
  actions: [
    {
      type: 'holdCause',
      params: ({ event }: { event: { description?: string } }) => siblingCause(event.description),
    },
    everyoneElse,
  ],
} as const
const toDiscarded = {
  target: 'discarded',
  actions: [
    {
      type: 'holdCause',
      params: ({ event: { reason = 'streaming_fallback' } }: { event: { reason?: unknown } }): AbortCause => ({
        kind: 'streaming_fallback',
        reason,
      }),
    },
    everyone,
    'silence',
  ],
} as const

/** While calls are accepted: an interrupt does not change what may happen to them next. */
const whileAccepting = {
  'call.release': releaseCall,
  'call.withdraw': withdrawCall,
  'calls.withdraw': withdrawRest,
  'abort.userInterrupted': [toInterrupted, toAborted],
  'abort.siblingError': toSiblingErrored,
  'abort.siblings': abortNamed,
  'abort.streamingFallback': toDiscarded,
} as const

/**
 * The executor: `gate` decides which calls execute, `run` tracks the aborts. The order of states in `run` is their
 * precedence: each step leads to a stronger one.
 */
export const executorChart = once(() =>
  executorSetup.createMachine({
    id: 'executor',
    context: ({ input: { run } }) => ({ run, starts: 0, cause: undefined }),
    type: 'parallel',
    states: {
      gate: {
        initial: 'open',
        on: {
          'call.requeued': {
            ...ofOwnCall,
            actions: { type: 'requeue', params: ({ event }: { event: Requeued }) => event },
          },
          'call.rekeyed': {
            ...ofOwnCall,
            actions: { type: 'rekey', params: ({ event }: { event: Rekeyed }) => event },
          },
          'call.paused': { ...ofOwnCall, actions: { type: 'pause', params: callOf } },
          'call.resumed': { actions: { type: 'resume', params: callOf } },
          'call.completed': { ...ofOwnCall, actions: { type: 'complete', params: callOf } },
        },
        states: {
          open: { always: [toExclusive, toShared] },
          shared: { always: [toShared, toOpen] },
          exclusive: { always: toOpen },
        },
      },
      run: {
        initial: 'clear',
        on: {
          'results.take': [
            { guard: 'lastMessageIsReady', actions: ['handOver', 'moveCursor'] },
            { guard: 'messageIsReady', actions: 'handOver' },
          ],
        },
        states: {
          clear: {
            tags: 'accepting',
            on: {
              'call.add': [enqueueCall, answerCall],
              ...whileAccepting,
            },
          },
          interrupted: {
            tags: 'accepting',
            on: {
              'call.add': [
                { ...answerCall, guard: { type: 'yieldsToInterrupt', params: callOf } },
                enqueueCall,
                answerCall,
              ],
              ...whileAccepting,
            },
          },
          aborted: {
            tags: 'answering',
            on: {
              'call.add': answerCall,
              'abort.siblingError': toSiblingErrored,
              'abort.siblings': abortNamed,
              'abort.streamingFallback': toDiscarded,
            },
          },
          siblingErrored: {
            tags: 'answering',
            on: {
              'call.add': answerCall,
              'abort.streamingFallback': toDiscarded,
            },
          },
          discarded: {
            on: { 'results.take': {} },
          },
        },
      },
    },
  }),
)

export type ExecutorMachine = ReturnType<typeof executorChart>
