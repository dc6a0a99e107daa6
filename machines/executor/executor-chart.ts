import type { AbortCause } from '../call/abort-precedence.ts'
import type { CallRecord } from '../call/call-record.ts'
import { once } from '../once.ts'
import type { Lane } from './admission.ts'
import type { AddedCall, NamedSiblings, Rekeyed, Requeued } from './executor-events.ts'
import { executorSetup, siblingCause } from './executor-setup.ts'

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
