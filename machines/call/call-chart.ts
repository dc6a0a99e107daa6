import { once } from '../once.ts'
import type { AbortCause, StopCause } from './abort-precedence.ts'
import type { CallEvent, OwnResult } from './call-events.ts'
import type { Reclassification } from './call-record.ts'
import { type CallContext, callSetup } from './call-setup.ts'
import type { Ending } from './ending.ts'

const eventOf = <E>({ event }: { event: E }): E => event
const causeOf = <C>({ event }: { event: { cause: C } }): C => event.cause

const byResult: Ending = { by: 'result' }
const byAnswer: Ending = { by: 'answer' }
const byJournal: Ending = { by: 'journal' }
const byUnknown: Ending = { by: 'unknown' }
const byBackground: Ending = { by: 'background' }
const withOwnResult = { target: '#call.completed', actions: { type: 'endWith', params: byResult } } as const

/** A phase with nothing to do is skipped in the same transition. */
const toJournaling = [
  { guard: 'needsJournaling', target: '#call.executing.journaling' },
  { target: '#call.executing.calling' },
] as const
const toCalling = [{ guard: 'needsLocking', target: '#call.executing.locking' }, ...toJournaling] as const
const toPermission = [
  { guard: 'needsDeciding', target: '#call.executing.permission' },
  { guard: 'needsAsking', target: '#call.executing.permission.asking' },
  ...toCalling,
] as const
const toPreHooks = [{ guard: 'needsPreHooks', target: '#call.executing.preHooks' }, ...toPermission] as const
const toValidation = [{ guard: 'needsValidation', target: '#call.executing.validating' }, ...toPreHooks] as const
const toFirstPhase = [{ guard: 'needsRecovery', target: '#call.executing.recovering' }, ...toValidation] as const

type Changed = { change: Reclassification | undefined }
const requeued = {
  type: 'reportRequeued',
  params: ({ event }: { event: Changed }): Reclassification | undefined => event.change,
} as const
const mustQueueAgain = { type: 'mustQueueAgain', params: eventOf<Changed> } as const
const rekey = {
  type: 'rekey',
  params: ({ event }: { event: Changed }): Reclassification | undefined => event.change,
} as const
/** The call goes on, with the keys of its changed input. */
const withNewKeys = <Transition extends object>(transitions: readonly Transition[]) =>
  transitions.map((transition) => ({ ...transition, actions: rekey }))
const holdCause = { type: 'holdCause', params: causeOf<StopCause> } as const

/** Ended before its body ran, or between two runs of it: the signal aborts at once. */
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

/** Its body ran in a process that has ended: whether it took effect is unknown. */
const endsUnknown = {
  target: '#call.completed',
  actions: [holdCause, 'stop', { type: 'endWith', params: byUnknown }],
} as const
const cutWhileQueued = [{ guard: 'needsRecovery', ...endsUnknown }, cutShort('notStarted')] as const

const aborted = cutShort('underWay')
const interrupted = { guard: 'yieldsToInterrupt', ...aborted } as const
const toStopping = { target: '#call.executing.stopping', actions: holdCause } as const

/** The body runs in this process, waits for a worker, or runs on one. If a worker is lost, another may pick the body up. */
const whereBodiesRun = {
  here: { on: { 'body.sent': 'sent', 'body.pickedUp': 'remote' } },
  sent: { on: { 'body.pickedUp': 'remote' } },
  remote: { on: { 'body.sent': 'sent' } },
} as const

/** The body goes on, and what it does from now on is no longer this call's. */
const toBackground = {
  guard: 'canDetach',
  target: '#call.completed',
  actions: [
    { type: 'detach', params: ({ event }: { event: Extract<CallEvent, { type: 'call.detach' }> }) => event.how },
    { type: 'endWith', params: byBackground },
  ],
} as const

/** A result or an error of its own; an error may cancel the siblings. */
const toOwnResult = [
  {
    guard: { type: 'cancelsSiblings', params: eventOf<OwnResult> },
    target: '#call.completed',
    actions: [
      { type: 'cancelSiblings', params: eventOf<OwnResult> },
      { type: 'endWith', params: byResult },
    ],
  },
  withOwnResult,
] as const

const toUnknown = [
  {
    guard: { type: 'cancelsSiblings', params: eventOf<OwnResult> },
    target: '#call.completed',
    actions: [
      { type: 'cancelSiblings', params: eventOf<OwnResult> },
      { type: 'endWith', params: byUnknown },
    ],
  },
  { target: '#call.completed', actions: { type: 'endWith', params: byUnknown } },
] as const

/** While it waited for a person, the slots may have filled up: then it queues again, and keeps its decision. */
const answered = {
  'input.rejected': toOwnResult,
  'permission.allowed': [
    { guard: mustQueueAgain, target: '#call.queued', actions: ['permit', requeued] },
    { guard: 'lacksPlace', target: '#call.queued', actions: ['permit', requeued] },
    { guard: 'needsLocking', target: '#call.executing.locking', actions: ['permit', rekey, 'reportResumed'] },
    { guard: 'needsJournaling', target: '#call.executing.journaling', actions: ['permit', rekey, 'reportResumed'] },
    { target: '#call.executing.calling', actions: ['permit', rekey, 'reportResumed'] },
  ],
} as const

/** Told to stop, and now ended: the body settled, or its grace period is over. */
const endStopped = {
  type: 'endWith',
  params: ({ context, event }: { context: CallContext; event: CallEvent }): Ending => ({
    by: 'abort',
    cause: context.cause as AbortCause,
    reached: event.type !== 'tool.settled' ? 'abandoned' : event.end === 'failed' ? 'underWay' : event.end,
  }),
} as const

/** The outcome is final; only the remaining work on it is cut short. */
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
        always: {
          guard: 'isAnswered',
          target: 'completed',
          actions: {
            type: 'endWith',
            params: ({ context }) => (context.call.port.isRecorded ? byJournal : byAnswer),
          },
        },
        on: {
          'call.start': toFirstPhase,
          'call.abort': cutWhileQueued,
          // the executor informs only those queued calls that an interrupt affects
          'call.interrupt': cutWhileQueued,
        },
      },
      executing: {
        initial: 'validating',
        states: {
          recovering: {
            entry: 'recover',
            on: {
              'call.recovered': [{ guard: 'needsLocking', target: 'locking' }, { target: 'calling' }],
              'outcome.unknown': toUnknown,
              'tool.settled': 'postHooks',
              'call.abort': endsUnknown,
              'call.interrupt': { guard: 'yieldsToInterrupt', ...endsUnknown },
            },
          },
          validating: {
            entry: 'validate',
            on: {
              'input.accepted': [
                { guard: mustQueueAgain, target: '#call.queued', actions: requeued },
                ...withNewKeys(toPreHooks),
              ],
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
                { guard: mustQueueAgain, target: '#call.queued', actions: requeued },
                ...withNewKeys(toPermission),
              ],
              'input.rejected': toOwnResult,
              'call.abort': aborted,
              'call.interrupt': interrupted,
            },
          },
          permission: {
            initial: 'deciding',
            states: {
              deciding: {
                entry: 'decide',
                on: {
                  'permission.undecided': 'asking',
                  'permission.deferred': 'later',
                  'permission.allowed': [
                    { guard: 'needsLocking', target: '#call.executing.locking', actions: 'permit' },
                    { guard: 'needsJournaling', target: '#call.executing.journaling', actions: 'permit' },
                    { target: '#call.executing.calling', actions: 'permit' },
                  ],
                },
              },
              asking: {
                entry: 'askHost',
                on: { ...answered, 'permission.pending': { actions: 'reportPaused' }, 'permission.deferred': 'later' },
              },
              later: { entry: ['awaitAnswer', 'reportPaused'], on: answered },
            },
            on: {
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
          locking: {
            entry: 'takeLocks',
            on: {
              'locks.granted': toJournaling,
              'call.abort': aborted,
              'call.interrupt': interrupted,
            },
          },
          journaling: {
            entry: 'journalStart',
            on: {
              'start.journaled': 'calling',
              'start.failed': withOwnResult,
              'call.abort': aborted,
              'call.interrupt': interrupted,
            },
          },
          calling: {
            entry: 'callTool',
            initial: 'here',
            states: whereBodiesRun,
            on: {
              'tool.settled': [
                { guard: { type: 'willRetry', params: eventOf }, target: 'retrying' },
                { guard: 'needsPostHooks', target: 'postHooks' },
                { guard: { type: 'needsFormatting', params: eventOf }, target: 'formatting' },
                withOwnResult,
              ],
              'call.detach': toBackground,
              'outcome.unknown': toUnknown,
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
              'outcome.unknown': toUnknown,
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
        initial: 'durable',
        states: {
          durable: {
            always: { guard: 'needsRecording', target: 'recording' },
            on: { 'call.yield': '#call.yielded' },
          },
          recording: {
            entry: 'recordResult',
            on: { 'result.recorded': 'durable', 'result.unrecorded': 'unrecorded' },
          },
          unrecorded: {
            on: { 'call.yield': '#call.yielded' },
          },
        },
      },
      yielded: { type: 'final' },
    },
  }),
)

export type CallMachine = ReturnType<typeof callChart>
