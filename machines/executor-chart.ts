import { assign, enqueueActions, setup } from 'xstate'
import type { AbortCause } from './abort-precedence.ts'
import { type Lane, laneOf, refusalOf } from './admission.ts'
import { callChart } from './call-chart.ts'
import type { CallRecord } from './call-record.ts'
import { compileChart } from './compile-chart.ts'
import { once } from './once.ts'
import type { RunRecord } from './run-record.ts'
import { TableActor } from './table-actor.ts'
import { deliverableOf } from './yield-cursor.ts'

export type ExecutorEvent =
  | { type: 'call.add'; call: CallRecord }
  | { type: 'call.release'; call: CallRecord }
  | { type: 'call.withdraw'; call: CallRecord; because: string }
  | { type: 'call.requeued'; call: CallRecord }
  | { type: 'call.completed'; call: CallRecord }
  | { type: 'abort.userInterrupted'; reason: unknown; by?: CallRecord }
  | { type: 'abort.siblingError'; by?: CallRecord; description?: string }
  | { type: 'abort.streamingFallback' }
  | { type: 'results.take' }

export interface ExecutorContext {
  readonly run: RunRecord
  /** How many calls have started. XState looks at `always` again only where the context changed. */
  readonly starts: number
  /** The strongest abort so far: what is added from now on is answered with it. */
  readonly cause: AbortCause | undefined
}

export interface ExecutorInput {
  readonly run: RunRecord
}

const callTable = once(() => compileChart(callChart()))

const executorSetup = setup({
  types: {
    context: {} as ExecutorContext,
    input: {} as ExecutorInput,
    events: {} as ExecutorEvent,
    tags: {} as 'accepting' | 'answering',
  },
  actions: {
    // Outside `children` on purpose: XState copies that map at every spawn, which is quadratic over a turn. An
    // `enqueueActions` that enqueues nothing, because XState warns of actors that are made inside a plain action.
    receive: enqueueActions(({ context: { run }, self }, call: CallRecord) => {
      const actor = new TableActor(callTable(), self, 'call', { call, executor: self })
      call.ref = actor.ref
      run.receive(call)
      actor.start()
    }),
    standInLine: ({ context: { run } }, call: CallRecord) => {
      if (!call.port.isAnswered) run.line.enter(call)
    },
    release: ({ context: { run } }, call: CallRecord) => {
      call.stage = 'queued'
      run.line.enter(call)
    },
    withdraw: enqueueActions(({ enqueue }, { call, because }: { call: CallRecord; because: string }) => {
      call.stage = 'withdrawn'
      const cause: AbortCause = { kind: 'withdrawn', reason: 'withdrawn', description: because }
      if (call.ref !== undefined) enqueue.sendTo(call.ref, { type: 'call.abort', cause })
    }),
    startNext: enqueueActions(({ context: { run, starts }, enqueue }) => {
      const call = run.line.next
      if (call?.ref === undefined) return
      run.start(call)
      enqueue.assign({ starts: starts + 1 })
      enqueue.sendTo(call.ref, { type: 'call.start' })
    }),
    requeue: ({ context: { run } }, call: CallRecord) => run.requeue(call),
    complete: ({ context: { run } }, call: CallRecord) => run.complete(call),
    // No merging: a transition of `run` only ever leads to the stronger cause.
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
    answerWithCause: enqueueActions(({ context: { cause }, enqueue }, call: CallRecord) => {
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
      const next = run.line.next
      return next !== undefined && laneOf(next) === lane && refusalOf(next, run) === undefined
    },
    nothingExecutes: ({ context: { run } }) => run.executing.size === 0,
    isHeld: (_, call: CallRecord) => call.stage === 'held',
    isInterrupt: (_, reason: unknown) => reason === 'interrupt',
    yieldsToInterrupt: (_, call: CallRecord) => call.yieldsToInterrupt,
    lastMessageIsReady: ({ context: { run } }) => {
      const next = deliverableOf(run)
      return next.ready && next.isLastMessage
    },
    messageIsReady: ({ context: { run } }) => deliverableOf(run).ready,
  },
})

const callOf = ({ event }: { event: { call: CallRecord } }): CallRecord => event.call
const everyone = { type: 'abortCalls', params: undefined } as const
/** The call that is the cause keeps its own result. */
const everyoneElse = { type: 'abortCalls', params: ({ event }: { event: { by?: CallRecord } }) => event.by } as const

const mayStart = (lane: Lane) => ({ type: 'canExecuteTool', params: lane }) as const
const toExclusive = { guard: mayStart('exclusive'), target: 'exclusive', actions: 'startNext' } as const
const toShared = { guard: mayStart('shared'), target: 'shared', actions: 'startNext' } as const
const toOpen = { guard: 'nothingExecutes', target: 'open' } as const

const enqueueCall = {
  actions: [
    { type: 'receive', params: callOf },
    { type: 'standInLine', params: callOf },
  ],
} as const
const releaseCall = {
  guard: { type: 'isHeld', params: callOf },
  actions: { type: 'release', params: callOf },
} as const
const withdrawCall = {
  guard: { type: 'isHeld', params: callOf },
  actions: { type: 'withdraw', params: ({ event }: { event: { call: CallRecord; because: string } }) => event },
} as const
const answerCall = {
  actions: [
    { type: 'receive', params: callOf },
    { type: 'answerWithCause', params: callOf },
  ],
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
      params: ({ event }: { event: { description?: string } }): AbortCause => ({
        kind: 'sibling_error',
        reason: 'sibling_error',
        ...(event.description !== undefined && { description: event.description }),
      }),
    },
    everyoneElse,
  ],
} as const
const toDiscarded = {
  target: 'discarded',
  actions: [
    { type: 'holdCause', params: { kind: 'streaming_fallback', reason: 'streaming_fallback' } },
    everyone,
    'silence',
  ],
} as const

/**
 * The executor: `gate` says who may execute, `run` how far the aborts have come. The way through `run` is their
 * precedence: each step is only ever towards the stronger.
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
          'call.requeued': { actions: { type: 'requeue', params: callOf } },
          'call.completed': { actions: { type: 'complete', params: callOf } },
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
              'call.add': enqueueCall,
              'call.release': releaseCall,
              'call.withdraw': withdrawCall,
              'abort.userInterrupted': [toInterrupted, toAborted],
              'abort.siblingError': toSiblingErrored,
              'abort.streamingFallback': toDiscarded,
            },
          },
          interrupted: {
            tags: 'accepting',
            on: {
              'call.add': [{ guard: { type: 'yieldsToInterrupt', params: callOf }, ...answerCall }, enqueueCall],
              'call.release': releaseCall,
              'call.withdraw': withdrawCall,
              'abort.userInterrupted': [toInterrupted, toAborted],
              'abort.siblingError': toSiblingErrored,
              'abort.streamingFallback': toDiscarded,
            },
          },
          aborted: {
            tags: 'answering',
            on: {
              'call.add': answerCall,
              'abort.siblingError': toSiblingErrored,
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

/** What runs in production: the same chart, from a table. */
export const executorTable = once(() => compileChart(executorChart()))
