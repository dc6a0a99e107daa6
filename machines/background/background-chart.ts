import { assign, setup } from 'xstate'
import { type AbortCause, type StopCause, strongerCause } from '../call/abort-precedence.ts'
import type { CallEvent } from '../call/call-events.ts'
import type { Ending } from '../call/ending.ts'
import { once } from '../once.ts'
import type { BackgroundPort } from './background-port.ts'

/** A body and its phases send the same reports as to a call's own chart. */
type BodyEvent = Extract<
  CallEvent,
  {
    type:
      | 'tool.settled'
      | 'call.timedOut'
      | 'call.graceEnded'
      | 'retry.due'
      | 'postHooks.finished'
      | 'result.formatted'
      | 'call.recovered'
      | 'outcome.unknown'
  }
>

export type BackgroundEvent =
  | BodyEvent
  /** `drops`: nobody gets its outcome, because its reply was discarded or everything ends. */
  | { type: 'background.stop'; cause: AbortCause; drops: boolean }
  /** Everything ends, and its body runs on by itself. */
  | { type: 'background.leave' }
  /** The log has the outcome. */
  | { type: 'outcome.recorded' }
  /** The outcome has become part of the conversation. */
  | { type: 'background.deliver' }

export interface BackgroundContext {
  readonly port: BackgroundPort
  /** The strongest reason to stop so far. */
  readonly cause: StopCause | undefined
  readonly isDropped: boolean
  readonly ending: Ending | undefined
}

type Stop = Extract<BackgroundEvent, { type: 'background.stop' }>
type Settled = Extract<BackgroundEvent, { type: 'tool.settled' }>

const backgroundSetup = setup({
  types: {
    context: {} as BackgroundContext,
    input: {} as { readonly port: BackgroundPort },
    events: {} as BackgroundEvent,
  },
  actions: {
    recover: ({ context }) => context.port.recover(),
    callTool: ({ context }) => context.port.callTool(),
    startBackoff: ({ context }) => context.port.startBackoff(),
    runPostHooks: ({ context }) => context.port.runPostHooks(),
    formatResult: ({ context }) => context.port.formatResult(),
    hurry: ({ context }) => context.port.hurry(),
    stop: ({ context }) => {
      if (context.cause !== undefined) context.port.stop(context.cause)
    },
    startGrace: ({ context }) => context.port.startGrace(),
    abandon: ({ context }) => context.port.abandon(),
    conclude: ({ context }) => {
      if (context.ending !== undefined) context.port.conclude(context.ending)
    },
    recordOutcome: ({ context }) => context.port.recordOutcome(),
    announce: ({ context }) => context.port.announce(),
    letGo: ({ context }) => context.port.letGo(),
    holdCause: assign({
      cause: ({ context }, cause: StopCause): StopCause => strongerCause(context.cause, cause),
    }),
    holdDrop: assign({ isDropped: ({ context }, drops: boolean) => context.isDropped || drops }),
    endWith: assign({ ending: (_, ending: Ending): Ending => ending }),
  },
  guards: {
    needsRecovery: ({ context }) => context.port.needsRecovery,
    needsPostHooks: ({ context }) => context.port.needsPostHooks,
    needsFormatting: (_, settled: { needsFormatting: boolean }) => settled.needsFormatting,
    willRetry: (_, settled: { willRetry: boolean }) => settled.willRetry,
    ranOutOfTime: ({ context }) => context.cause?.kind === 'timeout',
    ranOutOfTimeWithHooks: ({ context }) => context.cause?.kind === 'timeout' && context.port.needsPostHooks,
    isDropped: ({ context }) => context.isDropped,
    needsRecording: ({ context }) => context.port.needsRecording,
    drops: (_, { drops }: { drops: boolean }) => drops,
  },
})

const eventOf = <E>({ event }: { event: E }): E => event
const holdTimeout = {
  type: 'holdCause',
  params: ({ event }: { event: { cause: StopCause } }): StopCause => event.cause,
} as const
const holdStop = [
  { type: 'holdCause', params: ({ event }: { event: Stop }): StopCause => event.cause },
  { type: 'holdDrop', params: ({ event }: { event: Stop }) => event.drops },
] as const
const holdDrop = holdStop[1]

const withOwnResult = {
  target: '#background.finished',
  actions: { type: 'endWith', params: { by: 'result' } },
} as const
const withUnknown = { target: '#background.finished', actions: { type: 'endWith', params: { by: 'unknown' } } } as const

/** Told to stop, and now ended: the body settled, or its grace period is over. */
const endStopped = {
  type: 'endWith',
  params: ({ context, event }: { context: BackgroundContext; event: BackgroundEvent }): Ending => ({
    by: 'abort',
    cause: context.cause as AbortCause,
    reached: event.type !== 'tool.settled' ? 'abandoned' : event.end === 'failed' ? 'underWay' : event.end,
  }),
} as const

/** Between two runs of its body: the signal aborts at once. */
const endBetween = {
  type: 'endWith',
  params: ({ context }: { context: BackgroundContext }): Ending => ({
    by: 'abort',
    cause: context.cause as AbortCause,
    reached: 'underWay',
  }),
} as const

/** The outcome is final; only the remaining work on it is cut short. */
const hurried = { 'background.stop': { actions: [holdDrop, 'hurry'] } } as const

/** A call whose body outlives its turn: `running → stopping? → finished → delivered`. */
export const backgroundChart = once(() =>
  backgroundSetup.createMachine({
    id: 'background',
    context: ({ input: { port } }) => ({ port, cause: undefined, isDropped: false, ending: undefined }),
    initial: 'running',
    states: {
      running: {
        initial: 'beginning',
        on: { 'background.leave': 'dropped' },
        states: {
          beginning: { always: [{ guard: 'needsRecovery', target: 'recovering' }, { target: 'calling' }] },
          recovering: {
            entry: 'recover',
            on: {
              'call.recovered': { target: 'calling', actions: 'callTool' },
              'outcome.unknown': withUnknown,
              'tool.settled': 'postHooks',
              // the log has its outcome
              'result.formatted': withOwnResult,
              'background.stop': { ...withUnknown, actions: [...holdStop, 'stop', withUnknown.actions] },
            },
          },
          // no entry: its first body runs already
          calling: {
            on: {
              'tool.settled': [
                { guard: { type: 'willRetry', params: eventOf<Settled> }, target: 'retrying' },
                { guard: 'needsPostHooks', target: 'postHooks' },
                { guard: { type: 'needsFormatting', params: eventOf<Settled> }, target: 'formatting' },
                withOwnResult,
              ],
              'outcome.unknown': withUnknown,
              'call.timedOut': { target: '#background.stopping', actions: holdTimeout },
              'background.stop': { target: '#background.stopping', actions: [...holdStop] },
            },
          },
          retrying: {
            entry: 'startBackoff',
            on: {
              'retry.due': { target: 'calling', actions: 'callTool' },
              'call.timedOut': [
                { guard: 'needsPostHooks', target: 'postHooks', actions: [holdTimeout, 'stop'] },
                { target: 'formatting', actions: [holdTimeout, 'stop'] },
              ],
              'background.stop': { target: '#background.finished', actions: [...holdStop, 'stop', endBetween] },
            },
          },
          postHooks: {
            entry: 'runPostHooks',
            on: { 'postHooks.finished': 'formatting', ...hurried },
          },
          formatting: {
            entry: 'formatResult',
            on: { 'result.formatted': withOwnResult, ...hurried },
          },
        },
      },
      stopping: {
        entry: ['stop', 'startGrace'],
        on: {
          'background.stop': { actions: [...holdStop] },
          'background.leave': 'dropped',
          'outcome.unknown': withUnknown,
          'tool.settled': [
            { guard: 'ranOutOfTimeWithHooks', target: 'running.postHooks' },
            { guard: 'ranOutOfTime', target: 'running.formatting' },
            { target: 'finished', actions: endStopped },
          ],
          'call.graceEnded': [
            { guard: 'ranOutOfTimeWithHooks', target: 'running.postHooks', actions: 'abandon' },
            { guard: 'ranOutOfTime', target: 'running.formatting', actions: 'abandon' },
            { target: 'finished', actions: ['abandon', endStopped] },
          ],
        },
      },
      finished: {
        entry: 'conclude',
        initial: 'ready',
        // a stop that comes too late changes nothing, unless nobody gets the outcome
        on: { 'background.stop': { guard: { type: 'drops', params: eventOf<Stop> }, target: 'dropped' } },
        states: {
          ready: {
            entry: 'announce',
            always: [
              { guard: 'isDropped', target: '#background.dropped' },
              { guard: 'needsRecording', target: 'recording' },
            ],
            on: { 'background.deliver': '#background.delivered' },
          },
          recording: {
            entry: 'recordOutcome',
            on: { 'outcome.recorded': 'ready' },
          },
        },
      },
      delivered: { type: 'final' },
      dropped: { type: 'final', entry: 'letGo' },
    },
  }),
)

export type BackgroundMachine = ReturnType<typeof backgroundChart>
