import { type AnyActorRef, assign, sendTo, setup } from 'xstate'
import { type AbortCause, type StopCause, strongerCause, type TimeoutCause } from './abort-precedence.ts'
import type { CallRecord } from './call-record.ts'
import type { Ending } from './ending.ts'

export type CallEvent =
  | { type: 'call.start' }
  | { type: 'call.abort'; cause: AbortCause }
  | { type: 'call.interrupt'; cause: AbortCause }
  | { type: 'call.timedOut'; cause: TimeoutCause }
  | { type: 'call.graceEnded' }
  | { type: 'call.yield' }
  | { type: 'input.accepted' }
  | { type: 'input.rejected'; cancelsSiblings: boolean; description: string }
  | { type: 'permission.allowed'; becameUnsafe: boolean }
  | { type: 'permission.denied'; stopsTurn: boolean }
  | { type: 'tool.settled'; finished: boolean; needsFormatting: boolean }
  | { type: 'result.formatted'; cancelsSiblings: boolean; description: string }

export interface CallContext {
  readonly call: CallRecord
  readonly executor: AnyActorRef
  /** Permission was given before the call went back to the line; nobody asks twice. */
  readonly isPermitted: boolean
  /** The strongest reason to stop so far. */
  readonly cause: StopCause | undefined
  readonly ending: Ending | undefined
}

export interface CallInput {
  readonly call: CallRecord
  readonly executor: AnyActorRef
}

type Own = Extract<CallEvent, { cancelsSiblings: boolean }>

const callSetup = setup({
  types: {
    context: {} as CallContext,
    input: {} as CallInput,
    events: {} as CallEvent,
  },
  actions: {
    validate: ({ context }) => context.call.port.validate(),
    askHost: ({ context }) => context.call.port.askHost(),
    callTool: ({ context }) => context.call.port.callTool(),
    formatResult: ({ context }) => context.call.port.formatResult(),
    hurry: ({ context }) => context.call.port.hurry(),
    stop: ({ context }) => {
      if (context.cause !== undefined) context.call.port.stop(context.cause)
    },
    startGrace: ({ context }) => context.call.port.startGrace(),
    abandon: ({ context }) => context.call.port.abandon(),
    conclude: ({ context }) => {
      if (context.ending !== undefined) context.call.port.conclude(context.ending)
    },
    permit: assign({ isPermitted: true }),
    holdCause: assign({
      cause: ({ context }, cause: StopCause): StopCause => strongerCause(context.cause, cause),
    }),
    endWith: assign({ ending: (_, ending: Ending): Ending => ending }),
    reportCompleted: sendTo(
      ({ context }) => context.executor,
      ({ context }) => ({ type: 'call.completed', call: context.call }),
    ),
    reportRequeued: sendTo(
      ({ context }) => context.executor,
      ({ context }) => ({ type: 'call.requeued', call: context.call }),
    ),
    // ahead of its own completion, so that nothing starts in between
    stopTurn: sendTo(
      ({ context }) => context.executor,
      ({ context }) => ({ type: 'abort.userInterrupted', reason: 'permission_stop', by: context.call }),
    ),
    cancelSiblings: sendTo(
      ({ context }) => context.executor,
      ({ context }, description: string) => ({ type: 'abort.siblingError', by: context.call, description }),
    ),
  },
  guards: {
    isAnswered: ({ context }) => context.call.port.isAnswered,
    needsValidation: ({ context }) => context.call.port.needsValidation,
    needsPermission: ({ context }) => context.call.port.needsPermission && !context.isPermitted,
    needsFormatting: (_, settled: { needsFormatting: boolean }) => settled.needsFormatting,
    stopsTurn: (_, denied: { stopsTurn: boolean }) => denied.stopsTurn,
    becameUnsafe: (_, allowed: { becameUnsafe: boolean }) => allowed.becameUnsafe,
    cancelsSiblings: (_, own: { cancelsSiblings: boolean }) => own.cancelsSiblings,
    yieldsToInterrupt: ({ context }) => context.call.yieldsToInterrupt,
    ranOutOfTime: ({ context }) => context.cause?.kind === 'timeout',
  },
})

const eventOf = <E>({ event }: { event: E }): E => event
const causeOf = <C>({ event }: { event: { cause: C } }): C => event.cause

const byResult: Ending = { by: 'result' }
const byAnswer: Ending = { by: 'answer' }

/** A phase with nothing to do is stepped over in the same transition. */
const toPermission = [
  { guard: 'needsPermission', target: '#call.executing.permission' },
  { target: '#call.executing.calling' },
] as const
const toValidation = [{ guard: 'needsValidation', target: '#call.executing.validating' }, ...toPermission] as const

const holdCause = { type: 'holdCause', params: causeOf<StopCause> } as const

/** Ended before its body ran: the signal aborts, nobody waits. */
const cutShort = (reached: 'notStarted' | 'underWay') =>
  ({
    target: '#call.completed',
    actions: [
      holdCause,
      'stop',
      {
        type: 'endWith',
        params: ({ context }: { context: CallContext }): Ending => ({
          by: 'abort',
          cause: context.cause as AbortCause,
          reached,
        }),
      },
    ],
  }) as const

const toStopping = { target: '#call.executing.stopping', actions: holdCause } as const

/** A result or an error of its own; the latter may take the siblings with it. */
const toOwnResult = [
  {
    guard: { type: 'cancelsSiblings', params: eventOf<Own> },
    target: '#call.completed',
    actions: [
      { type: 'cancelSiblings', params: ({ event }: { event: Own }) => event.description },
      { type: 'endWith', params: byResult },
    ],
  },
  { target: '#call.completed', actions: { type: 'endWith', params: byResult } },
] as const

/** Told to stop, and now over: by its own settling, or because its grace is. */
const endStopped = {
  type: 'endWith',
  params: ({ context, event }: { context: CallContext; event: CallEvent }): Ending => ({
    by: 'abort',
    cause: context.cause as AbortCause,
    reached: event.type !== 'tool.settled' ? 'abandoned' : event.finished ? 'finished' : 'underWay',
  }),
} as const

/** One tool call: `queued → executing → completed → yielded`. */
export const callMachine = callSetup.createMachine({
  id: 'call',
  context: ({ input }) => ({ ...input, isPermitted: false, cause: undefined, ending: undefined }),
  initial: 'queued',
  states: {
    queued: {
      always: { guard: 'isAnswered', target: 'completed', actions: { type: 'endWith', params: byAnswer } },
      on: {
        'call.start': toValidation,
        'call.abort': cutShort('notStarted'),
        // the executor tells only those in its line that an interrupt concerns
        'call.interrupt': cutShort('notStarted'),
      },
    },
    executing: {
      initial: 'validating',
      states: {
        validating: {
          entry: 'validate',
          on: {
            'input.accepted': toPermission,
            'input.rejected': toOwnResult,
            'call.abort': cutShort('underWay'),
            'call.interrupt': { guard: 'yieldsToInterrupt', ...cutShort('underWay') },
          },
        },
        permission: {
          entry: 'askHost',
          on: {
            'permission.allowed': [
              {
                guard: { type: 'becameUnsafe', params: eventOf },
                target: '#call.queued',
                actions: ['permit', 'reportRequeued'],
              },
              { target: 'calling', actions: 'permit' },
            ],
            'permission.denied': [
              {
                guard: { type: 'stopsTurn', params: eventOf },
                target: '#call.completed',
                actions: ['stopTurn', { type: 'endWith', params: byResult }],
              },
              { target: '#call.completed', actions: { type: 'endWith', params: byResult } },
            ],
            'input.rejected': toOwnResult,
            'call.abort': cutShort('underWay'),
            'call.interrupt': cutShort('underWay'),
          },
        },
        calling: {
          entry: 'callTool',
          on: {
            'tool.settled': [
              { guard: { type: 'needsFormatting', params: eventOf }, target: 'formatting' },
              { target: '#call.completed', actions: { type: 'endWith', params: byResult } },
            ],
            'call.timedOut': toStopping,
            'call.abort': toStopping,
            'call.interrupt': { guard: 'yieldsToInterrupt', ...toStopping },
          },
        },
        stopping: {
          // not an `after`: XState scans all timers of a system at each stop of an actor, which is quadratic
          entry: ['stop', 'startGrace'],
          on: {
            'call.abort': { actions: holdCause },
            'call.interrupt': { guard: 'yieldsToInterrupt', actions: holdCause },
            'tool.settled': [
              { guard: 'ranOutOfTime', target: 'formatting' },
              { target: '#call.completed', actions: endStopped },
            ],
            'call.graceEnded': [
              { guard: 'ranOutOfTime', target: 'formatting', actions: 'abandon' },
              { target: '#call.completed', actions: ['abandon', endStopped] },
            ],
          },
        },
        formatting: {
          entry: 'formatResult',
          // the outcome stands; only what is still done for it is cut short
          on: {
            'result.formatted': toOwnResult,
            'call.abort': { actions: 'hurry' },
            'call.interrupt': { guard: 'yieldsToInterrupt', actions: 'hurry' },
          },
        },
      },
    },
    completed: {
      entry: ['conclude', 'reportCompleted'],
      on: { 'call.yield': 'yielded' },
    },
    yielded: { type: 'final' },
  },
})
