import type { Refusal } from '../../../machines/index.ts'
import type { Encoded } from '../encode-value.ts'
import type { EndingFrame, ResultFrame } from '../frame.ts'

/** What a call is doing while it executes, by the names of its chart. */
export const phases = [
  'validating',
  'preHooks',
  'deciding',
  'asking',
  'calling',
  'retrying',
  'stopping',
  'postHooks',
  'formatting',
] as const

export type Phase = (typeof phases)[number]

/** What ended a phase from the inside: an event of the call's own, and what the chart made of it. */
export interface Answer {
  readonly event: string
  readonly seq: number
  /** The state that came next. */
  readonly next: string
  cancelsSiblings: boolean
  stopsTurn: boolean
}

/** A stay in a phase, in microseconds since the recording began. */
export interface Stay {
  readonly phase: Phase
  readonly from: number
  to?: number
}

/** A stay that a recording tells of. */
export interface Visit extends Stay {
  /** The frame that led to it. */
  readonly fromSeq: number
  /** Absent where the call was told to end, or the recording ends here. */
  answer?: Answer
  /** When it was told to stop, or to hurry, meanwhile. */
  toldAt?: number
  /** When its body aborted its own controller, which stops the turn. */
  stopsTurn?: { readonly at: number; readonly seq: number; readonly reason: string }
}

/** Why a call waited, and for whom. */
export interface WaitedFor {
  readonly because: Refusal
  readonly blockers: readonly string[]
}

/** The way of a call. Each time is that of the event from outside that led to it. */
export interface Way {
  addedAt: number
  startedAt?: number
  endedAt?: number
  yieldedAt?: number
  /** Why it waited just before it started. */
  waitedFor?: WaitedFor
  ending?: Pick<EndingFrame, 'by' | 'kind' | 'reached'>
  readonly visits: Stay[]
}

/** One call as a recording tells of it. */
export interface SeenCall extends Way {
  readonly id: string
  readonly name: string
  label: string
  readonly input: Encoded
  readonly index: number
  readonly isSafe: boolean
  readonly stopsAtInterrupt: boolean
  readonly isHeld: boolean
  readonly addedSeq: number
  /** It was over when the recorder came. */
  readonly wasOver: boolean
  readonly visits: Visit[]
  readonly results: ResultFrame[]
  /** A held call that was let go, or withdrawn. */
  letGo?: { readonly at: number; readonly seq: number; readonly isWithdrawn: boolean }
  /** Its place among the starts. */
  startedSeq?: number
  /** When its result stood at the cursor. */
  readyAt?: number
  yieldedSeq?: number
}
