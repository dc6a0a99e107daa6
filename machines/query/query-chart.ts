import { assign, setup } from 'xstate'
import { once } from '../once.ts'
import type { QueryEnding } from './query-ending.ts'
import type { QueryPort } from './query-port.ts'

/** What may follow a failed stream. */
export type Recovery = 'retry' | 'fallBack' | 'none'

export type QueryEvent =
  | { type: 'query.start' }
  | { type: 'query.abort'; reason: unknown }
  /** The user sends something new: the model stops, tools that yield stop, and the query continues with the message. */
  | { type: 'query.steer' }
  | { type: 'turn.prepared' }
  | { type: 'turn.failed'; error: unknown }
  /** `isWhole`: the reply was not cut off, so its last calls are complete. */
  | { type: 'stream.ended'; isWhole: boolean }
  /** The model refused, and there is no fallback model: its reply is dropped. */
  | { type: 'stream.refused' }
  /**
   * The service restarts its reply, or hands it over to another model. `hasEffects`: a call that is not read-only has
   * started, so the partial reply is kept; otherwise it is dropped.
   */
  | { type: 'stream.restarted'; hasEffects: boolean }
  | { type: 'stream.failed'; error: unknown; recovery: Recovery; delayMs: number; hasEffects: boolean }
  | { type: 'retry.due' }
  | { type: 'results.drained' }

export interface QueryContext {
  readonly port: QueryPort
  /** The strongest abort so far: anything else replaces an interrupt. */
  readonly abort: { readonly reason: unknown } | undefined
  readonly error: unknown
  /** Why the model is asked again. */
  readonly transition: { readonly reason: 'next_turn' | 'retry' | 'fallback' } | undefined
  /** How long to wait before that. */
  readonly delayMs: number
}

type Failed = Extract<QueryEvent, { type: 'stream.failed' }>

const querySetup = setup({
  types: {
    context: {} as QueryContext,
    input: {} as { readonly port: QueryPort },
    events: {} as QueryEvent,
    /** A message sent now may still reach the model. */
    tags: {} as 'listening',
  },
  actions: {
    prepare: ({ context }) => context.port.prepare(),
    runOpenCalls: ({ context }) => context.port.runOpenCalls(),
    openStream: ({ context }) => context.port.openStream(),
    stopModel: ({ context }) => context.port.stopModel(),
    discardAttempt: ({ context }) => context.port.discardAttempt(),
    discardReply: ({ context }) => context.port.discardReply(),
    discardRefusal: ({ context }) => context.port.discardRefusal(),
    cutReply: ({ context }) => context.port.cutReply(),
    startBackoff: ({ context }) => context.port.startBackoff(context.delayMs),
    useFallback: ({ context }) => context.port.useFallback(),
    closeReply: ({ context }, isWhole: boolean) => context.port.closeReply(isWhole),
    abortTools: ({ context }) => context.port.abortTools(context.abort?.reason),
    interruptTools: ({ context }) => context.port.abortTools('interrupt'),
    drain: ({ context }) => context.port.drain(),
    holdAbort: assign({
      abort: ({ context }, reason: unknown) =>
        context.abort === undefined || context.abort.reason === 'interrupt' ? { reason } : context.abort,
    }),
    goOn: assign({
      transition: (_, reason: 'next_turn' | 'retry' | 'fallback'): QueryContext['transition'] => ({ reason }),
    }),
    holdError: assign({ error: (_, error: unknown) => error }),
    holdDelay: assign({ delayMs: (_, delayMs: number) => delayMs }),
    conclude: ({ context }, endingOf: (context: QueryContext) => QueryEnding) =>
      context.port.conclude(endingOf(context)),
  },
  guards: {
    hasOpenCalls: ({ context }) => context.port.hasOpenCalls,
    isFatal: (_, { recovery }: Failed) => recovery === 'none',
    mayFallBack: (_, { recovery }: Failed) => recovery === 'fallBack',
    keepsAndFallsBack: (_, { recovery, hasEffects }: Failed) => hasEffects && recovery === 'fallBack',
    keepsReply: (_, { hasEffects }: { hasEffects: boolean }) => hasEffects,
    isHookStopped: ({ context }) => context.port.isHookStopped,
    isAborted: ({ context }) => context.abort !== undefined,
    needsAnotherTurn: ({ context }) => context.port.needsAnotherTurn,
    hasNoTurnLeft: ({ context }) => context.port.isLastTurn,
    isLastTurn: ({ context }) => context.port.needsAnotherTurn && context.port.isLastTurn,
  },
})

const eventOf = <E>({ event }: { event: E }): E => event
const holdError = { type: 'holdError', params: ({ event }: { event: { error: unknown } }) => event.error } as const
const holdDelay = { type: 'holdDelay', params: ({ event }: { event: Failed }) => event.delayMs } as const
const holdAbort = { type: 'holdAbort', params: ({ event }: { event: { reason: unknown } }) => event.reason } as const
const cutOff = { type: 'closeReply', params: false } as const
const again = { type: 'goOn', params: 'retry' } as const
const withFallback = { type: 'goOn', params: 'fallback' } as const

/** A reply with effects is kept, so that the model knows what it did; any other starts again. */
const onFailure = [
  { guard: { type: 'isFatal', params: eventOf<Failed> }, target: 'failing', actions: [holdError, cutOff] },
  {
    guard: { type: 'keepsAndFallsBack', params: eventOf<Failed> },
    target: 'salvaging',
    actions: [holdError, holdDelay, 'useFallback', withFallback, 'cutReply'],
  },
  {
    guard: { type: 'keepsReply', params: eventOf<Failed> },
    target: 'salvaging',
    actions: [holdError, holdDelay, again, 'cutReply'],
  },
  {
    guard: { type: 'mayFallBack', params: eventOf<Failed> },
    target: 'retrying',
    actions: [holdError, holdDelay, 'useFallback', withFallback, 'discardAttempt'],
  },
  { target: 'retrying', actions: [holdError, holdDelay, again, 'discardAttempt'] },
] as const

const onRestart = [
  {
    guard: { type: 'keepsReply', params: eventOf<{ hasEffects: boolean }> },
    target: 'salvaging',
    actions: ['stopModel', { type: 'holdDelay', params: 0 }, again, 'cutReply'],
  },
  { actions: 'discardReply' },
] as const

const ends = (endingOf: (context: QueryContext) => QueryEnding) =>
  ({ type: 'final', entry: { type: 'conclude', params: () => endingOf } }) as const

/** A conversation with a model that calls tools, turn by turn, until there is nothing more to do. */
export const queryChart = once(() =>
  querySetup.createMachine({
    id: 'query',
    context: ({ input: { port } }) => ({ port, abort: undefined, error: undefined, transition: undefined, delayMs: 0 }),
    initial: 'idle',
    states: {
      idle: {
        tags: 'listening',
        on: {
          'query.start': [
            { guard: 'hasOpenCalls', target: 'draining', actions: 'runOpenCalls' },
            { target: 'preparing' },
          ],
          'query.abort': { target: 'abortedStreaming', actions: holdAbort },
        },
      },
      preparing: {
        tags: 'listening',
        entry: 'prepare',
        on: {
          'turn.prepared': 'streaming',
          'turn.failed': { target: 'modelError', actions: holdError },
          'query.abort': { target: 'abortedStreaming', actions: holdAbort },
        },
      },
      streaming: {
        tags: 'listening',
        entry: 'openStream',
        on: {
          'stream.ended': {
            target: 'draining',
            actions: { type: 'closeReply', params: ({ event }) => event.isWhole },
          },
          'stream.refused': { target: 'draining', actions: 'discardRefusal' },
          'stream.failed': onFailure,
          'stream.restarted': onRestart,
          'query.steer': { target: 'draining', actions: ['stopModel', 'interruptTools', cutOff] },
          'query.abort': { target: 'abortingStream', actions: [holdAbort, 'stopModel', 'abortTools', cutOff] },
        },
      },
      retrying: {
        tags: 'listening',
        entry: 'startBackoff',
        on: {
          'retry.due': 'preparing',
          'query.abort': { target: 'abortingStream', actions: holdAbort },
        },
      },
      draining: {
        tags: 'listening',
        entry: 'drain',
        on: {
          'results.drained': 'deciding',
          'query.steer': { actions: 'interruptTools' },
          'query.abort': { target: 'abortingTools', actions: [holdAbort, 'abortTools'] },
        },
      },
      salvaging: {
        tags: 'listening',
        entry: 'drain',
        on: {
          'results.drained': [
            { guard: 'isHookStopped', target: 'hookStopped' },
            { guard: 'hasNoTurnLeft', target: 'maxTurns' },
            { target: 'retrying' },
          ],
          'query.steer': { actions: 'interruptTools' },
          'query.abort': { target: 'abortingTools', actions: [holdAbort, 'abortTools'] },
        },
      },
      deciding: {
        always: [
          { guard: 'isHookStopped', target: 'hookStopped' },
          { guard: 'isLastTurn', target: 'maxTurns' },
          { guard: 'needsAnotherTurn', target: 'preparing', actions: { type: 'goOn', params: 'next_turn' } },
          { target: 'completed' },
        ],
      },
      abortingStream: {
        entry: 'drain',
        on: {
          'results.drained': 'abortedStreaming',
          'query.abort': { actions: [holdAbort, 'abortTools'] },
        },
      },
      abortingTools: {
        on: {
          'results.drained': 'abortedTools',
          'query.abort': { actions: [holdAbort, 'abortTools'] },
        },
      },
      failing: {
        entry: 'drain',
        on: {
          'results.drained': [{ guard: 'isAborted', target: 'abortedStreaming' }, { target: 'modelError' }],
          'query.abort': { actions: [holdAbort, 'abortTools'] },
        },
      },
      completed: ends(() => ({ reason: 'completed' })),
      maxTurns: ends(() => ({ reason: 'max_turns' })),
      hookStopped: ends(() => ({ reason: 'hook_stopped' })),
      abortedStreaming: ends(({ abort }) => ({ reason: 'aborted_streaming', abortReason: abort?.reason })),
      abortedTools: ends(({ abort }) => ({ reason: 'aborted_tools', abortReason: abort?.reason })),
      modelError: ends(({ error }) => ({ reason: 'model_error', error })),
    },
  }),
)

export type QueryMachine = ReturnType<typeof queryChart>
