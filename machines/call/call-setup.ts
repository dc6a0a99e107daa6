import { type AnyActorRef, assign, enqueueActions, sendTo, setup } from 'xstate'
import type { Detachment } from '../background/background-port.ts'
import { type StopCause, strongerCause } from './abort-precedence.ts'
import type { CallEvent, OwnResult } from './call-events.ts'
import type { CallRecord, Reclassification } from './call-record.ts'
import type { Ending } from './ending.ts'

export interface CallContext {
  readonly call: CallRecord
  readonly executor: AnyActorRef
  /** The hooks have run. A call that goes back to the queue keeps their answers. */
  readonly isHooked: boolean
  /** Permitted before it went back to the queue: nobody is asked twice, but deny rules are checked again. */
  readonly isPermitted: boolean
  /** The strongest reason to stop so far. */
  readonly cause: StopCause | undefined
  readonly ending: Ending | undefined
}

export interface CallInput {
  readonly call: CallRecord
  readonly executor: AnyActorRef
}

/** The parts of the call chart: its actions call the port, its guards query it. */
export const callSetup = setup({
  types: {
    context: {} as CallContext,
    input: {} as CallInput,
    events: {} as CallEvent,
  },
  actions: {
    recover: ({ context }) => context.call.port.recover(),
    takeLocks: ({ context }) => context.call.port.takeLocks(),
    journalStart: ({ context }) => context.call.port.journalStart(),
    recordResult: ({ context }) => context.call.port.recordResult(),
    validate: ({ context }) => context.call.port.validate(),
    runPreHooks: ({ context }) => context.call.port.runPreHooks(),
    decide: ({ context }) => context.call.port.decide(),
    askHost: ({ context }) => context.call.port.askHost(),
    awaitAnswer: ({ context }) => context.call.port.awaitAnswer(),
    callTool: ({ context }) => context.call.port.callTool(),
    startBackoff: ({ context }) => context.call.port.startBackoff(),
    runPostHooks: ({ context }) => context.call.port.runPostHooks(),
    formatResult: ({ context }) => context.call.port.formatResult(),
    hurry: ({ context }) => context.call.port.hurry(),
    stop: ({ context }) => {
      if (context.cause !== undefined) context.call.port.stop(context.cause)
    },
    startGrace: ({ context }) => context.call.port.startGrace(),
    abandon: ({ context }) => context.call.port.abandon(),
    detach: ({ context }, how: Detachment) => context.call.port.detach(how),
    conclude: ({ context }) => {
      if (context.ending !== undefined) context.call.port.conclude(context.ending)
    },
    heedHooks: assign({ isHooked: true }),
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
      ({ context }, change: Reclassification | undefined) => ({ type: 'call.requeued', call: context.call, change }),
    ),
    // only a changed input changes the keys
    rekey: enqueueActions(({ context, enqueue }, change: Reclassification | undefined) => {
      if (change !== undefined) enqueue.sendTo(context.executor, { type: 'call.rekeyed', call: context.call, change })
    }),
    reportPaused: sendTo(
      ({ context }) => context.executor,
      ({ context }) => ({ type: 'call.paused', call: context.call }),
    ),
    reportResumed: sendTo(
      ({ context }) => context.executor,
      ({ context }) => ({ type: 'call.resumed', call: context.call }),
    ),
    // before its own completion, so that nothing starts in between
    stopTurn: sendTo(
      ({ context }) => context.executor,
      ({ context }) => ({ type: 'abort.userInterrupted', reason: 'permission_stop', by: context.call }),
    ),
    cancelSiblings: sendTo(
      ({ context }) => context.executor,
      ({ context }, { cancelsSiblings, description }: OwnResult) =>
        typeof cancelsSiblings === 'boolean'
          ? { type: 'abort.siblingError', by: context.call, description }
          : { type: 'abort.siblings', by: context.call, description, siblings: cancelsSiblings },
    ),
  },
  guards: {
    isAnswered: ({ context }) => context.call.port.isAnswered,
    needsRecovery: ({ context }) => context.call.port.needsRecovery,
    needsLocking: ({ context }) => context.call.port.needsLocking,
    needsJournaling: ({ context }) => context.call.port.needsJournaling,
    needsRecording: ({ context }) => context.call.port.needsRecording,
    needsValidation: ({ context }) => context.call.port.needsValidation,
    needsPreHooks: ({ context }) => !context.isHooked && context.call.port.needsPreHooks,
    needsDeciding: ({ context: { call, isPermitted } }) =>
      call.port.needsDeciding && (!isPermitted || call.port.mayBeForbidden),
    needsAsking: ({ context }) => !context.isPermitted && context.call.port.needsAsking,
    lacksPlace: ({ context }) => !context.call.port.hasPlace,
    canDetach: ({ context }) => context.call.port.canDetach,
    needsPostHooks: ({ context }) => context.call.port.needsPostHooks,
    needsFormatting: (_, settled: { needsFormatting: boolean }) => settled.needsFormatting,
    willRetry: (_, settled: { willRetry: boolean }) => settled.willRetry,
    stopsTurn: (_, denied: { stopsTurn: boolean }) => denied.stopsTurn,
    mustQueueAgain: ({ context }, { change }: { change: Reclassification | undefined }) =>
      change !== undefined && context.call.port.mustQueueAgain(change),
    cancelsSiblings: (_, { cancelsSiblings }: Pick<OwnResult, 'cancelsSiblings'>) =>
      cancelsSiblings === true || (Array.isArray(cancelsSiblings) && cancelsSiblings.length > 0),
    yieldsToInterrupt: ({ context }) => context.call.yieldsToInterrupt,
    ranOutOfTime: ({ context }) => context.cause?.kind === 'timeout',
    ranOutOfTimeWithHooks: ({ context }) => context.cause?.kind === 'timeout' && context.call.port.needsPostHooks,
  },
})
