import type { AbortCause, StopCause } from './abort-precedence.ts'
import type { CallEvent, OwnResult } from './call-events.ts'
import { type CallContext, callSetup } from './call-setup.ts'
import type { Ending } from './ending.ts'
import { once } from './once.ts'

const eventOf = <E>({ event }: { event: E }): E => event
const causeOf = <C>({ event }: { event: { cause: C } }): C => event.cause

const byResult: Ending = { by: 'result' }
const byAnswer: Ending = { by: 'answer' }
const withOwnResult = { target: '#call.completed', actions: { type: 'endWith', params: byResult } } as const

/** A phase with nothing to do is stepped over in the same transition. */
const toPermission = [
  { guard: 'needsDeciding', target: '#call.executing.permission' },
  { guard: 'needsAsking', target: '#call.executing.permission.asking' },
  { target: '#call.executing.calling' },
] as const
const toPreHooks = [{ guard: 'needsPreHooks', target: '#call.executing.preHooks' }, ...toPermission] as const
const toValidation = [{ guard: 'needsValidation', target: '#call.executing.validating' }, ...toPreHooks] as const

const isUnsafeNow = { type: 'becameUnsafe', params: eventOf<{ becameUnsafe: boolean }> } as const
const holdCause = { type: 'holdCause', params: causeOf<StopCause> } as const

/** Ended before its body ran, or between two runs of it: the signal aborts, nobody waits. */
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

const aborted = cutShort('underWay')
const interrupted = { guard: 'yieldsToInterrupt', ...aborted } as const
const toStopping = { target: '#call.executing.stopping', actions: holdCause } as const

/** A result or an error of its own; the latter may take the siblings with it. */
const toOwnResult = [
  {
    guard: { type: 'cancelsSiblings', params: eventOf<OwnResult> },
    target: '#call.completed',
    actions: [
      { type: 'cancelSiblings', params: ({ event }: { event: OwnResult }) => event.description },
      { type: 'endWith', params: byResult },
    ],
  },
  withOwnResult,
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

/** The outcome stands; only what is still done for it is cut short. */
const hurried = {
  'call.abort': { actions: 'hurry' },
  'call.interrupt': { guard: 'yieldsToInterrupt', actions: 'hurry' },
} as const

/** One tool call: `queued → executing → completed → yielded`. */
export const callChart = once(() =>
  callSetup.createMachine({
    id: 'call',
    context: ({ input: { call, executor } }) => ({
      call,
      executor,
      isHooked: false,
      isPermitted: false,
      cause: undefined,
      ending: undefined,
    }),
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
              'input.accepted': toPreHooks,
              'input.rejected': toOwnResult,
              'call.abort': aborted,
              'call.interrupt': interrupted,
            },
          },
          preHooks: {
            entry: 'runPreHooks',
            exit: 'heedHooks',
            on: {
              'preHooks.finished': [
                { guard: isUnsafeNow, target: '#call.queued', actions: 'reportRequeued' },
                ...toPermission,
              ],
              'input.rejected': toOwnResult,
              'call.abort': aborted,
              'call.interrupt': interrupted,
            },
          },
          permission: {
            initial: 'deciding',
            states: {
              deciding: { entry: 'decide', on: { 'permission.undecided': 'asking' } },
              asking: { entry: 'askHost', on: { 'input.rejected': toOwnResult } },
            },
            on: {
              'permission.allowed': [
                { guard: isUnsafeNow, target: '#call.queued', actions: ['permit', 'reportRequeued'] },
                { target: 'calling', actions: 'permit' },
              ],
              'permission.denied': [
                {
                  guard: { type: 'stopsTurn', params: eventOf },
                  target: '#call.completed',
                  actions: ['stopTurn', { type: 'endWith', params: byResult }],
                },
                withOwnResult,
              ],
              'call.abort': aborted,
              'call.interrupt': aborted,
            },
          },
          calling: {
            entry: 'callTool',
            on: {
              'tool.settled': [
                { guard: { type: 'willRetry', params: eventOf }, target: 'retrying' },
                { guard: 'needsPostHooks', target: 'postHooks' },
                { guard: { type: 'needsFormatting', params: eventOf }, target: 'formatting' },
                withOwnResult,
              ],
              'call.timedOut': toStopping,
              'call.abort': toStopping,
              'call.interrupt': { guard: 'yieldsToInterrupt', ...toStopping },
            },
          },
          retrying: {
            entry: 'startBackoff',
            on: {
              'retry.due': 'calling',
              'call.timedOut': [
                { guard: 'needsPostHooks', target: 'postHooks', actions: [holdCause, 'stop'] },
                { target: 'formatting', actions: [holdCause, 'stop'] },
              ],
              'call.abort': aborted,
              'call.interrupt': interrupted,
            },
          },
          stopping: {
            // not an `after`: XState scans all timers of a system at each stop of an actor, which is quadratic
            entry: ['stop', 'startGrace'],
            on: {
              'call.abort': { actions: holdCause },
              'call.interrupt': { guard: 'yieldsToInterrupt', actions: holdCause },
              'tool.settled': [
                { guard: 'ranOutOfTimeWithHooks', target: 'postHooks' },
                { guard: 'ranOutOfTime', target: 'formatting' },
                { target: '#call.completed', actions: endStopped },
              ],
              'call.graceEnded': [
                { guard: 'ranOutOfTimeWithHooks', target: 'postHooks', actions: 'abandon' },
                { guard: 'ranOutOfTime', target: 'formatting', actions: 'abandon' },
                { target: '#call.completed', actions: ['abandon', endStopped] },
              ],
            },
          },
          postHooks: {
            entry: 'runPostHooks',
            on: { 'postHooks.finished': 'formatting', ...hurried },
          },
          formatting: {
            entry: 'formatResult',
            on: { 'result.formatted': toOwnResult, ...hurried },
          },
        },
      },
      completed: {
        entry: ['conclude', 'reportCompleted'],
        on: { 'call.yield': 'yielded' },
      },
      yielded: { type: 'final' },
    },
  }),
)

export type CallMachine = ReturnType<typeof callChart>
