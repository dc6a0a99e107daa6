import { assign, setup } from 'xstate'
import type { LimitReached } from './budget.ts'
import type { QueryEnding } from './query-ending.ts'
import type { QueryEvent, StreamFailed } from './query-events.ts'
import type { QueryPort } from './query-port.ts'

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

/** The parts of the query chart: its actions call the port, its guards query it. */
export const querySetup = setup({
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
    isFatal: (_, { recovery }: StreamFailed) => recovery === 'none',
    mayFallBack: (_, { recovery }: StreamFailed) => recovery === 'fallBack',
    keepsAndFallsBack: (_, { recovery, hasEffects }: StreamFailed) => hasEffects && recovery === 'fallBack',
    keepsReply: (_, { hasEffects }: { hasEffects: boolean }) => hasEffects,
    isHookStopped: ({ context }) => context.port.isHookStopped,
    isAborted: ({ context }) => context.abort !== undefined,
    isInterrupted: ({ context }) => context.abort?.reason === 'interrupt',
    needsAnotherTurn: ({ context }) => context.port.needsAnotherTurn,
    hasNoTurnLeft: ({ context }) => context.port.isLastTurn,
    awaitsBackground: ({ context }) => context.port.awaitsBackground,
    isLastTurn: ({ context }) => context.port.needsAnotherTurn && context.port.isLastTurn,
  },
})
