import type { ToolCallContext } from '../tool/tool-use-context.ts'
import { CallAbortController } from './call-abort-controller.ts'
import type { WarningCode } from './executor-services.ts'
import type { ToolCall } from './tool-call.ts'

/**
 * Where a body runs: it waits for a worker, a worker runs it, or its worker was lost. Without a place it runs in this
 * process.
 */
export type Place =
  /** `waiting`: the calls in that queue, if the runner can tell. It is told again when the number changes. */
  | { readonly place: 'sent'; readonly waiting?: number | undefined }
  | { readonly place: 'remote'; readonly worker: string }
  | { readonly place: 'lost'; readonly worker: string }

/** The parts of a call that a remote body uses. */
export interface BodyLink {
  /** The id of the session; without one, an id of this turn. */
  readonly session: string
  /** From 1. */
  readonly attempt: number
  /** The body began in an earlier process. */
  readonly isRecovered: boolean
  readonly abortGraceMs: number
  /** The time that the tool allows begins when a worker takes the call. */
  place(place: Place): void
  warn(code: WarningCode, problem: string): void
}

/** Only calls that run elsewhere have one, so others need no field for it. */
const places = new WeakMap<ToolCall, Place>()

export const placeOf = (call: ToolCall): Place | undefined => places.get(call)

/** The link of the call that a context belongs to; undefined if the host made the context itself. */
export function linkOf({ abortController }: ToolCallContext): BodyLink | undefined {
  const call = CallAbortController.callOf(abortController)
  if (call === undefined) return undefined
  const { executor, body } = call
  return {
    session: executor.session,
    attempt: call.attempts,
    isRecovered: call.isRecovered && call.attempts <= 1,
    abortGraceMs: executor.settings.abortGraceMs,
    place: (place) => {
      if (body?.isRunning !== true) return
      places.set(call, place)
      if (place.place !== 'lost' && call.stopCause === undefined) call.startedTimer?.clear()
      if (place.place === 'remote' && call.stopCause === undefined) body.start()
      executor.tellPlaced(call, place)
    },
    warn: (code, problem) => executor.warn(call, code, problem),
  }
}
