import { assign, setup } from 'xstate'
import { once } from '../once.ts'
import type { LimitReached } from './budget.ts'
import type { QueryEnding } from './query-ending.ts'
import type { QueryPort } from './query-port.ts'

/** The possible next steps after a failed stream. */
export type Recovery = 'retry' | 'fallBack' | 'none'

export type QueryEvent =
  | { type: 'query.start' }
  | { type: 'query.abort'; reason: unknown }
  /** The user sends something new: the model stops, tools that yield stop, and the query continues with the message. */
  | { type: 'query.steer' }
  | { type: 'turn.prepared' }
  | { type: 'turn.failed'; error: unknown }
  /** The next request fits into every limit. */
  | { type: 'reserve.granted' }
  /** No further request may be made, in the whole tree. What is under way may finish. */
  | { type: 'limit.reached'; reached: LimitReached }
  /** Precedes it if time is up: what is under way stops. */
  | { type: 'limit.stop'; reached: LimitReached }
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
  /** The turn of the log is rebuilt. `next` says where it goes on. */
  | { type: 'turn.recovered'; next: 'preparing' | 'draining' | 'deciding' }
  /** Sends no further request: the query ends, to be resumed later. Running work has a grace period. */
  | { type: 'query.suspend'; graceMs: number }
  | { type: 'suspend.due' }
  /** Every call that is left waits for a person. */
  | { type: 'calls.stalled' }
  /** Every body has ended, or its grace period is over. */
  | { type: 'tools.halted' }
  /** Nothing can be recorded any more. */
  | { type: 'journal.failed'; error: unknown }
  /** A background call has an outcome for the model. */
  | { type: 'background.finished' }
  /** A message was sent while only background calls were under way. */
  | { type: 'message.sent' }

export interface QueryContext {
  readonly port: QueryPort
  /** The strongest abort so far: anything else replaces an interrupt. */
  readonly abort: { readonly reason: unknown } | undefined
  readonly error: unknown
  /** Why the model is asked again. */
  readonly transition: { readonly reason: 'next_turn' | 'retry' | 'fallback' } | undefined
  /** How long to wait before that. */
  readonly delayMs: number
  /** No further request is made. */
  readonly isSuspending: boolean
  readonly limit: LimitReached | undefined
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
    reserve: ({ context }) => context.port.reserve(),
    leaveReserve: ({ context }) => context.port.leaveReserve(),
    stopForLimit: ({ context }) => context.port.stopForLimit(),
    recover: ({ context }) => context.port.recover(),
    haltTools: ({ context }) => context.port.haltTools(),
    abandon: ({ context }) => context.port.abandon(),
    startSuspendGrace: ({ context }, graceMs: number) => context.port.startSuspendGrace(graceMs),
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
    holdSuspend: assign({ isSuspending: true }),
    holdError: assign({ error: (_, error: unknown) => error }),
    holdLimit: assign({ limit: (_, reached: LimitReached) => reached }),
    holdDelay: assign({ delayMs: (_, delayMs: number) => delayMs }),
    conclude: ({ context }, endingOf: (context: QueryContext) => QueryEnding) =>
      context.port.conclude(endingOf(context)),
  },
  guards: {
    hasOpenTurn: ({ context }) => context.port.hasOpenTurn,
    needsReserve: ({ context }) => context.port.needsReserve,
    hasOpenCalls: ({ context }) => context.port.hasOpenCalls,
    goesOnWith: (_, [next, state]: readonly [string, string]) => next === state,
    isSuspending: ({ context }) => context.isSuspending,
    stopsBeforeTurn: ({ context }) => context.isSuspending && context.port.needsAnotherTurn,
    isFatal: (_, { recovery }: Failed) => recovery === 'none',
    mayFallBack: (_, { recovery }: Failed) => recovery === 'fallBack',
    keepsAndFallsBack: (_, { recovery, hasEffects }: Failed) => hasEffects && recovery === 'fallBack',
    keepsReply: (_, { hasEffects }: { hasEffects: boolean }) => hasEffects,
    isHookStopped: ({ context }) => context.port.isHookStopped,
    isAborted: ({ context }) => context.abort !== undefined,
    needsAnotherTurn: ({ context }) => context.port.needsAnotherTurn,
    hasNoTurnLeft: ({ context }) => context.port.isLastTurn,
    awaitsBackground: ({ context }) => context.port.awaitsBackground,
    isLastTurn: ({ context }) => context.port.needsAnotherTurn && context.port.isLastTurn,
  },
})

const eventOf = <E>({ event }: { event: E }): E => event
const holdError = { type: 'holdError', params: ({ event }: { event: { error: unknown } }) => event.error } as const
const holdDelay = { type: 'holdDelay', params: ({ event }: { event: Failed }) => event.delayMs } as const
const holdAbort = { type: 'holdAbort', params: ({ event }: { event: { reason: unknown } }) => event.reason } as const
const holdLimit = {
  type: 'holdLimit',
  params: ({ event }: { event: { reached: LimitReached } }) => event.reached,
} as const
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

type Recovered = Extract<QueryEvent, { type: 'turn.recovered' }>

const goesOnWith = (state: Recovered['next']) =>
  ({
    guard: { type: 'goesOnWith', params: ({ event }: { event: Recovered }) => [event.next, state] as const },
    target: state,
  }) as const

/** Nothing is under way that a limit could let finish. */
const endsAtLimit = { 'limit.reached': { target: 'limited', actions: holdLimit } } as const
/** Time is up: the calls that are under way get their results. */
const stopsTools = { 'limit.stop': { target: 'limiting', actions: [holdLimit, 'stopForLimit'] } } as const

/** Nothing is under way: the query ends at once. */
const atRest = {
  'query.suspend': 'suspended',
  'journal.failed': { target: 'journalError', actions: holdError },
} as const

/** Running work may continue until the grace period ends. */
const underWay = {
  'query.suspend': {
    actions: [
      'holdSuspend',
      { type: 'startSuspendGrace', params: ({ event }: { event: { graceMs: number } }) => event.graceMs },
    ],
  },
  'suspend.due': 'suspending',
  'journal.failed': { target: 'abandoning', actions: holdError },
} as const
const losesJournal = { 'journal.failed': { target: 'abandoning', actions: holdError } } as const

const ends = (endingOf: (context: QueryContext) => QueryEnding) =>
  ({ type: 'final', entry: { type: 'conclude', params: () => endingOf } }) as const

/** A conversation with a model that calls tools, turn by turn, until there is nothing more to do. */
export const queryChart = once(() =>
  querySetup.createMachine({
    id: 'query',
    context: ({ input: { port } }) => ({
      port,
      abort: undefined,
      error: undefined,
      transition: undefined,
      delayMs: 0,
      isSuspending: false,
      limit: undefined,
    }),
    initial: 'idle',
    states: {
      idle: {
        tags: 'listening',
        on: {
          'query.start': [
            { guard: 'hasOpenTurn', target: 'recovering' },
            { guard: 'hasOpenCalls', target: 'draining', actions: 'runOpenCalls' },
            { target: 'preparing' },
          ],
          'query.abort': [
            // the effects of the open turn must not be lost
            { guard: 'hasOpenTurn', target: 'recovering', actions: holdAbort },
            { target: 'abortedStreaming', actions: holdAbort },
          ],
          ...atRest,
        },
      },
      recovering: {
        tags: 'listening',
        entry: 'recover',
        on: {
          'turn.recovered': [
            { guard: 'isAborted', target: 'abortingStream', actions: 'abortTools' },
            goesOnWith('draining'),
            goesOnWith('deciding'),
            { target: 'preparing' },
          ],
        },
      },
      preparing: {
        tags: 'listening',
        entry: 'prepare',
        on: {
          'turn.prepared': [{ guard: 'needsReserve', target: 'reserving' }, { target: 'streaming' }],
          'turn.failed': { target: 'modelError', actions: holdError },
          'query.abort': { target: 'abortedStreaming', actions: holdAbort },
          ...atRest,
        },
      },
      // waits while others have reserved what the request needs
      reserving: {
        tags: 'listening',
        entry: 'reserve',
        exit: 'leaveReserve',
        on: {
          'reserve.granted': 'streaming',
          // the request is made again, with the message
          'message.sent': 'preparing',
          'query.steer': 'preparing',
          'query.abort': { target: 'abortedStreaming', actions: holdAbort },
          ...endsAtLimit,
          ...atRest,
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
          'limit.stop': { target: 'limiting', actions: [holdLimit, 'stopModel', 'stopForLimit', cutOff, 'drain'] },
          ...underWay,
        },
      },
      retrying: {
        tags: 'listening',
        entry: 'startBackoff',
        on: {
          'retry.due': 'preparing',
          'query.abort': { target: 'abortingStream', actions: holdAbort },
          'limit.reached': { target: 'limiting', actions: [holdLimit, 'drain'] },
          ...atRest,
        },
      },
      draining: {
        tags: 'listening',
        entry: 'drain',
        on: {
          'results.drained': 'deciding',
          'query.steer': { actions: 'interruptTools' },
          'query.abort': { target: 'abortingTools', actions: [holdAbort, 'abortTools'] },
          'calls.stalled': 'suspending',
          ...stopsTools,
          ...underWay,
        },
      },
      salvaging: {
        tags: 'listening',
        entry: 'drain',
        on: {
          'results.drained': [
            { guard: 'isHookStopped', target: 'hookStopped' },
            { guard: 'hasNoTurnLeft', target: 'maxTurns' },
            { guard: 'isSuspending', target: 'suspended' },
            { target: 'retrying' },
          ],
          'query.steer': { actions: 'interruptTools' },
          'query.abort': { target: 'abortingTools', actions: [holdAbort, 'abortTools'] },
          ...stopsTools,
          'calls.stalled': 'suspending',
          ...underWay,
        },
      },
      deciding: {
        always: [
          { guard: 'isHookStopped', target: 'hookStopped' },
          { guard: 'isLastTurn', target: 'maxTurns' },
          { guard: 'stopsBeforeTurn', target: 'suspended' },
          { guard: 'needsAnotherTurn', target: 'preparing', actions: { type: 'goOn', params: 'next_turn' } },
          { guard: 'awaitsBackground', target: 'awaiting' },
          { target: 'completed' },
        ],
      },
      // the model has nothing more to do until a background call is over
      awaiting: {
        tags: 'listening',
        on: {
          'background.finished': 'deciding',
          'message.sent': 'deciding',
          'query.steer': 'deciding',
          'query.abort': { target: 'abortedTools', actions: [holdAbort, 'abortTools'] },
          'limit.stop': { actions: 'stopForLimit' },
          ...endsAtLimit,
          ...atRest,
          // the grace period of a suspension that began before
          'suspend.due': 'suspended',
        },
      },
      abortingStream: {
        entry: 'drain',
        on: {
          'results.drained': 'abortedStreaming',
          'query.abort': { actions: [holdAbort, 'abortTools'] },
          ...losesJournal,
        },
      },
      abortingTools: {
        on: {
          'results.drained': 'abortedTools',
          'query.abort': { actions: [holdAbort, 'abortTools'] },
          ...losesJournal,
        },
      },
      failing: {
        entry: 'drain',
        on: {
          'results.drained': [{ guard: 'isAborted', target: 'abortedStreaming' }, { target: 'modelError' }],
          'query.abort': { actions: [holdAbort, 'abortTools'] },
          // a question outlives the model's error; whoever resumes asks the model again
          'calls.stalled': 'suspending',
          ...underWay,
        },
      },
      limiting: {
        on: {
          'results.drained': 'limited',
          ...losesJournal,
        },
      },
      suspending: {
        entry: 'haltTools',
        on: { 'tools.halted': 'suspended' },
      },
      abandoning: {
        entry: 'abandon',
        on: { 'results.drained': 'journalError' },
      },
      completed: ends(() => ({ reason: 'completed' })),
      maxTurns: ends(() => ({ reason: 'max_turns' })),
      limited: ends(({ limit }) => ({ reason: 'limit', ...(limit as LimitReached) })),
      hookStopped: ends(() => ({ reason: 'hook_stopped' })),
      abortedStreaming: ends(({ abort }) => ({ reason: 'aborted_streaming', abortReason: abort?.reason })),
      abortedTools: ends(({ abort }) => ({ reason: 'aborted_tools', abortReason: abort?.reason })),
      suspended: ends(() => ({ reason: 'suspended' })),
      journalError: ends(({ error }) => ({ reason: 'journal_error', error })),
      modelError: ends(({ error }) => ({ reason: 'model_error', error })),
    },
  }),
)

export type QueryMachine = ReturnType<typeof queryChart>
