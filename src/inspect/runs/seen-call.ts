import type { Refusal, ResourceKeys } from '../../../machines/index.ts'
import type { EndingFrame } from '../frames/frame.ts'
import type { CallState } from '../run-model/run-state.ts'

/** The phases of an executing call, by their names in the chart. */
export const callPhases = [
  'recovering',
  'validating',
  'preHooks',
  'deciding',
  'asking',
  'later',
  'locking',
  'journaling',
  'calling',
  'retrying',
  'stopping',
  'postHooks',
  'formatting',
] as const

export type Phase = (typeof callPhases)[number]

/** The inner cause of a phase's end: the call's own event, and the chart's reaction. */
export interface Answer {
  readonly event: string
  readonly seq: number
  /** The next state. */
  readonly next: string
  /** True: all siblings. A list: the siblings with these ids. */
  cancelsSiblings: boolean | string[]
  stopsTurn: boolean
  /** The call went on with other keys. */
  changesKeys: boolean
}

/** The time in a phase, in microseconds since the recording began. */
interface Stay {
  readonly phase: Phase
  readonly from: number
  to?: number
}

/** A recorded stay. */
export interface Visit extends Stay {
  /** The sequence number of the frame that led to it. */
  readonly fromSeq: number
  /** Absent if the call was aborted or the recording ends here. */
  answer?: Answer
  /** When the body moved to another place. */
  moves?: { readonly at: number; readonly seq: number; readonly event: 'body.sent' | 'body.pickedUp' }[]
  /** When it was told to stop or to hurry. */
  toldAt?: number
  /** Set if its body aborted its own controller, which stops the turn. */
  stopsTurn?: { readonly at: number; readonly seq: number; readonly reason: string }
}

/** Why a call waited, and for which calls. */
export interface WaitedFor {
  readonly because: Refusal
  readonly blockers: readonly string[]
  readonly key?: string
}

/** The history of a call. Each time is that of the outside event that caused it. */
export interface Way {
  addedAt: number
  startedAt?: number
  endedAt?: number
  yieldedAt?: number
  /** Why it waited just before it started. */
  waitedFor?: WaitedFor
  ending?: Pick<EndingFrame, 'by' | 'kind' | 'reached'> | undefined
  /** When its body went to the background, and when it ended there, if that is known. */
  background?: { readonly from: number; readonly to?: number }
  readonly visits: Stay[]
}

/** A recorded call: the state of the run model, plus times and outside events. */
export interface SeenCall extends CallState, Way {
  ending: CallState['ending']
  /** When it was added. */
  readonly isSafe: boolean
  /** When it was added. */
  readonly firstKeys: ResourceKeys | undefined
  /** When it was added. */
  readonly isHeld: boolean
  readonly addedSeq: number
  /** It was done before the recorder attached. */
  readonly wasOver: boolean
  readonly visits: Visit[]
  /** When a held call was released or withdrawn. */
  letGo?: { readonly at: number; readonly seq: number; readonly isWithdrawn: boolean }
  /** The sequence number of its start. */
  startedSeq?: number
  /** When its result reached the cursor. */
  readyAt?: number
  yieldedSeq?: number
}
