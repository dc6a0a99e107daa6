import type { ToolCallContext } from '../tool/tool-use-context.ts'
import { CallAbortController } from './call-abort-controller.ts'
import type { BodyExecution } from './calling.ts'
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

/** Only bodies that run elsewhere have one, so others need no field for it. */
const places = new WeakMap<BodyExecution, Place>()

export const placeOf = ({ body }: ToolCall): Place | undefined => (body === undefined ? undefined : places.get(body))

/** The link of the call that a context belongs to; undefined if the host made the context itself. */
export function linkOf({ abortController }: ToolCallContext): BodyLink | undefined {
  const asked = CallAbortController.callOf(abortController)
  if (asked === undefined) return undefined
  // a body in the background that runs once more is an attempt of the call there
  const call = asked.body?.call ?? asked
  const { executor, body } = call
  return {
    session: executor.session,
    attempt: call.attempts,
    isRecovered: call.isRecovered && call.attempts <= 1,
    abortGraceMs: executor.settings.abortGraceMs,
    place: (place) => {
      if (body?.isRunning !== true) return
      // the body may have gone to the background since
      const { call: current } = body
      const hasMoved = places.get(body)?.place !== place.place
      places.set(body, place)
      if (place.place !== 'lost' && current.stopCause === undefined) current.startedTimer?.clear()
      if (place.place === 'remote' && current.stopCause === undefined) body.start()
      // after the loss of a worker, the chart stays as it is
      if (hasMoved && place.place !== 'lost')
        current.tell({ type: place.place === 'sent' ? 'body.sent' : 'body.pickedUp' })
      executor.tellPlaced(call, place)
    },
    warn: (code, problem) => executor.warn(call, code, problem),
  }
}
