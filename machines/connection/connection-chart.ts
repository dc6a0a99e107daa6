import { assign, setup } from 'xstate'
import { once } from '../once.ts'

/** The actions a connection needs. Each request is answered by an event. */
export interface ConnectionPort {
  /** Connects; answers with `connection.opened` or `connection.failed`. */
  open(): void
  /** Closes everything that is open or being opened. */
  letGo(): void
}

export interface ConnectionLimits {
  /** Maximum number of failed attempts in a row. */
  readonly maxAttempts: number
  readonly connectMs: number
  readonly minBackoffMs: number
  readonly maxBackoffMs: number
  /** How long a connection must last before earlier failures are forgotten. */
  readonly stableMs: number
}

export type ConnectionEvent =
  | { type: 'connection.opened' }
  /** `isHopeless`: a retry would fail in the same way. */
  | { type: 'connection.failed'; problem: string; isHopeless: boolean }
  | { type: 'connection.lost'; problem: string }
  /** The connection was used successfully: earlier failures are forgotten. */
  | { type: 'connection.proved' }
  | { type: 'connection.retry' }
  | { type: 'connection.close' }

export interface ConnectionContext {
  readonly port: ConnectionPort
  readonly limits: ConnectionLimits
  /** Failures in a row. */
  readonly failures: number
  readonly problem: string | undefined
}

const connectionSetup = setup({
  types: {
    context: {} as ConnectionContext,
    input: {} as Pick<ConnectionContext, 'port' | 'limits'>,
    events: {} as ConnectionEvent,
  },
  actions: {
    open: ({ context }) => context.port.open(),
    letGo: ({ context }) => context.port.letGo(),
    noteFailure: assign({
      failures: ({ context }) => context.failures + 1,
      problem: (_, problem: string): string => problem,
    }),
    forgetFailures: assign({ failures: 0 }),
    forgetProblem: assign({ problem: undefined }),
  },
  guards: {
    isHopeless: (_, isHopeless: boolean) => isHopeless,
    wasLastAttempt: ({ context: { failures, limits } }) => failures + 1 >= limits.maxAttempts,
  },
  delays: {
    connectLimit: ({ context }) => context.limits.connectMs,
    backoff: ({ context: { failures, limits } }) =>
      Math.min(limits.maxBackoffMs, limits.minBackoffMs * 2 ** Math.min(failures - 1, 30)),
    stable: ({ context }) => context.limits.stableMs,
  },
})

const noteProblem = {
  type: 'noteFailure',
  params: ({ event }: { event: { problem: string } }) => event.problem,
} as const
const noteSilence = {
  type: 'noteFailure',
  params: ({ context }: { context: ConnectionContext }) =>
    `the server did not answer within ${context.limits.connectMs} ms`,
} as const

/** One server: connected or reconnecting. Closing is final. */
export const connectionChart = once(() =>
  connectionSetup.createMachine({
    id: 'connection',
    context: ({ input }) => ({ ...input, failures: 0, problem: undefined }),
    initial: 'connecting',
    states: {
      connecting: {
        entry: 'open',
        on: {
          'connection.opened': { target: 'ready', actions: 'forgetProblem' },
          'connection.failed': [
            {
              guard: { type: 'isHopeless', params: ({ event }) => event.isHopeless },
              target: 'failed',
              actions: noteProblem,
            },
            { guard: 'wasLastAttempt', target: 'failed', actions: noteProblem },
            { target: 'backingOff', actions: noteProblem },
          ],
          'connection.lost': [
            { guard: 'wasLastAttempt', target: 'failed', actions: noteProblem },
            { target: 'backingOff', actions: noteProblem },
          ],
          'connection.close': 'closed',
        },
        after: {
          connectLimit: [
            { guard: 'wasLastAttempt', target: 'failed', actions: noteSilence },
            { target: 'backingOff', actions: noteSilence },
          ],
        },
      },
      ready: {
        on: {
          'connection.lost': [
            { guard: 'wasLastAttempt', target: 'failed', actions: noteProblem },
            { target: 'backingOff', actions: noteProblem },
          ],
          'connection.proved': { actions: 'forgetFailures' },
          'connection.retry': { target: 'connecting', actions: ['letGo', 'forgetFailures'] },
          'connection.close': 'closed',
        },
        after: { stable: { actions: 'forgetFailures' } },
      },
      backingOff: {
        entry: 'letGo',
        on: { 'connection.retry': 'connecting', 'connection.close': 'closed' },
        after: { backoff: 'connecting' },
      },
      failed: {
        entry: 'letGo',
        on: { 'connection.retry': { target: 'connecting', actions: 'forgetFailures' }, 'connection.close': 'closed' },
      },
      closed: { type: 'final', entry: 'letGo' },
    },
  }),
)

export type ConnectionMachine = ReturnType<typeof connectionChart>
