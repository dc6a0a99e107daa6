import { assign, setup } from 'xstate'
import { compileChart } from './compile-chart.ts'
import { once } from './once.ts'
import type { QueryEnding } from './query-ending.ts'
import type { QueryPort } from './query-port.ts'

/** What may follow a stream that failed. */
export type Recovery = 'retry' | 'fallBack' | 'none'

export type QueryEvent =
  | { type: 'query.start' }
  | { type: 'query.abort'; reason: unknown }
  /** The user has something else to say: the model stops, tools that yield stop, and the query goes on with it. */
  | { type: 'query.steer' }
  | { type: 'turn.prepared' }
  | { type: 'turn.failed'; error: unknown }
  /** `isWhole`: it was not cut off, so that its last calls mean what they say. */
  | { type: 'stream.ended'; isWhole: boolean }
  /** The service begins its reply again: what came so far does not count. */
  | { type: 'stream.restarted' }
  | { type: 'stream.failed'; error: unknown; recovery: Recovery; delayMs: number }
  | { type: 'retry.due' }
  | { type: 'results.drained' }

export interface QueryContext {
  readonly port: QueryPort
  /** The strongest abort so far: an interrupt gives way to anything else. */
  readonly abort: { readonly reason: unknown } | undefined
  readonly error: unknown
  /** Why the model is asked once more. */
  readonly transition: { readonly reason: 'next_turn' | 'retry' | 'fallback' } | undefined
}

const querySetup = setup({
  types: {
    context: {} as QueryContext,
    input: {} as { readonly port: QueryPort },
    events: {} as QueryEvent,
    /** What is sent now may still reach the model. */
    tags: {} as 'listening',
  },
  actions: {
    prepare: ({ context }) => context.port.prepare(),
    openStream: ({ context }) => context.port.openStream(),
    stopModel: ({ context }) => context.port.stopModel(),
    discardAttempt: ({ context }) => context.port.discardAttempt(),
    discardReply: ({ context }) => context.port.discardReply(),
    startBackoff: ({ context }, delayMs: number) => context.port.startBackoff(delayMs),
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
    conclude: ({ context }, endingOf: (context: QueryContext) => QueryEnding) =>
      context.port.conclude(endingOf(context)),
  },
  guards: {
    mayRetry: (_, recovery: Recovery) => recovery === 'retry',
    mayFallBack: (_, recovery: Recovery) => recovery === 'fallBack',
    isHookStopped: ({ context }) => context.port.isHookStopped,
    isAborted: ({ context }) => context.abort !== undefined,
    isExpected: ({ context }) => context.port.isExpected,
    isLastTurn: ({ context }) => context.port.isExpected && context.port.isLastTurn,
  },
})

type Failed = Extract<QueryEvent, { type: 'stream.failed' }>
const recoveryOf = ({ event }: { event: Failed }): Recovery => event.recovery
const backOff = { type: 'startBackoff', params: ({ event }: { event: Failed }) => event.delayMs } as const
const holdError = { type: 'holdError', params: ({ event }: { event: { error: unknown } }) => event.error } as const
const holdAbort = { type: 'holdAbort', params: ({ event }: { event: { reason: unknown } }) => event.reason } as const
const cutOff = { type: 'closeReply', params: false } as const

const onFailure = [
  {
    guard: { type: 'mayRetry', params: recoveryOf },
    target: 'retrying',
    actions: [holdError, 'discardAttempt', { type: 'goOn', params: 'retry' }, backOff],
  },
  {
    guard: { type: 'mayFallBack', params: recoveryOf },
    target: 'retrying',
    actions: [holdError, 'useFallback', 'discardAttempt', { type: 'goOn', params: 'fallback' }, backOff],
  },
  { target: 'failing', actions: [holdError, cutOff] },
] as const

const ends = (endingOf: (context: QueryContext) => QueryEnding) =>
  ({ type: 'final', entry: { type: 'conclude', params: () => endingOf } }) as const

/** A conversation with a model that calls tools, turn by turn, until one side has nothing more to say. */
export const queryChart = once(() =>
  querySetup.createMachine({
    id: 'query',
    context: ({ input: { port } }) => ({ port, abort: undefined, error: undefined, transition: undefined }),
    initial: 'idle',
    states: {
      idle: {
        tags: 'listening',
        on: { 'query.start': 'preparing', 'query.abort': { target: 'abortedStreaming', actions: holdAbort } },
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
          'stream.failed': onFailure,
          'stream.restarted': { actions: 'discardReply' },
          'query.steer': { target: 'draining', actions: ['stopModel', 'interruptTools', cutOff] },
          'query.abort': { target: 'abortingStream', actions: [holdAbort, 'stopModel', 'abortTools', cutOff] },
        },
      },
      retrying: {
        tags: 'listening',
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
      deciding: {
        always: [
          { guard: 'isHookStopped', target: 'hookStopped' },
          { guard: 'isLastTurn', target: 'maxTurns' },
          { guard: 'isExpected', target: 'preparing', actions: { type: 'goOn', params: 'next_turn' } },
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

/** What runs in production: the same chart, from a table. */
export const queryTable = once(() => compileChart(queryChart()))
