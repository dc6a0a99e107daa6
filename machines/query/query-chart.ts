import { once } from '../once.ts'
import type { LimitReached } from './budget.ts'
import type { QueryEnding } from './query-ending.ts'
import type { QueryEvent, StreamFailed } from './query-events.ts'
import { type QueryContext, querySetup } from './query-setup.ts'

const eventOf = <E>({ event }: { event: E }): E => event
const holdError = { type: 'holdError', params: ({ event }: { event: { error: unknown } }) => event.error } as const
const holdDelay = { type: 'holdDelay', params: ({ event }: { event: StreamFailed }) => event.delayMs } as const
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
  { guard: { type: 'isFatal', params: eventOf<StreamFailed> }, target: 'failing', actions: [holdError, cutOff] },
  {
    guard: { type: 'keepsAndFallsBack', params: eventOf<StreamFailed> },
    target: 'salvaging',
    actions: [holdError, holdDelay, 'useFallback', withFallback, 'cutReply'],
  },
  {
    guard: { type: 'keepsReply', params: eventOf<StreamFailed> },
    target: 'salvaging',
    actions: [holdError, holdDelay, again, 'cutReply'],
  },
  {
    guard: { type: 'mayFallBack', params: eventOf<StreamFailed> },
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
const whilePreparing = {
  'turn.failed': { target: 'modelError', actions: holdError },
  'query.abort': { target: 'abortedStreaming', actions: holdAbort },
  ...atRest,
} as const
const losesJournal = { 'journal.failed': { target: 'abandoning', actions: holdError } } as const
/** An interrupt lets calls go on, for as long as they take. Any other abort ends them, so a suspension has nothing to stop. */
const mayGoOn = {
  'query.suspend': underWay['query.suspend'],
  'suspend.due': { guard: 'isInterrupted', target: 'suspending' },
} as const

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
          'query.steer': 'outdated',
          ...whilePreparing,
        },
      },
      // the request lacks a message that interrupts, which must not wait for the reply that it is to stop
      outdated: {
        tags: 'listening',
        on: {
          'turn.prepared': 'preparing',
          ...whilePreparing,
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
        // whoever resumes asks again
        always: { guard: 'isSuspending', target: 'suspended' },
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
          // after an interrupt, a call that was queued may ask: nobody waits for a person
          'calls.stalled': 'suspending',
          ...mayGoOn,
          ...losesJournal,
        },
      },
      abortingTools: {
        on: {
          'results.drained': 'abortedTools',
          'query.abort': { actions: [holdAbort, 'abortTools'] },
          'calls.stalled': 'suspending',
          ...mayGoOn,
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
