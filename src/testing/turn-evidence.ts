import type { Admission, Ending, ResourceKeys } from '../../machines/index.ts'
import type { Message } from '../messages/message.ts'

/** Evidence from a held body itself, independent of the charts. */
export interface BodyEvidence {
  /** How many times it has started. */
  starts: number
  isRunning: boolean
  /** The turn abandoned it: it no longer counts for the gate. */
  readonly isAbandoned: boolean
  /** How it ended, whether it had been aborted by then, and what its result must contain. */
  outcome: { readonly ok: boolean; readonly wasTold: boolean; readonly says?: string } | undefined
  /** How many progress messages it sent while it ran. */
  reported: number
  readonly signal: AbortSignal
}

/** One call, seen from outside. `at` is an event counter, not a time. */
export interface CallEvidence {
  readonly id: string
  readonly name: string
  /** The index in emission order. */
  index: number
  readonly stopsAtInterrupt: boolean
  /** Its current class: may run beside other safe calls. */
  isSafe: boolean
  /** The resources that it names, if its tool names any. */
  keys: ResourceKeys | undefined
  isHeld: boolean
  /** The state of its chart: `queued`, `executing.calling.here`, `completed` and so on. */
  phase: string
  /** It has executed and was not queued again since. */
  hasExecuted: boolean
  /** The conflicting call before it that still waited when it started. */
  overtook: string | undefined
  /** Each start of its body: when, and beside which calls. */
  readonly starts: { readonly at: number; readonly beside: readonly string[]; readonly conflict: string | undefined }[]
  /** When it was first aborted. */
  toldAt: number | undefined
  /** It timed out, so it was aborted for that reason. */
  hasTimedOut: boolean
  deniedAt: number | undefined
  completedAt: number | undefined
  ending: Ending | undefined
  readonly results: { readonly at: number; readonly isError: boolean; readonly text: string }[]
  progressRead: number
  /** Reports that a reader was told were dropped. */
  progressDropped: number
  lastProgressAt: number | undefined
  /** The executor's reason for its waiting. */
  explained: Admission | undefined
  body: BodyEvidence | undefined
}

export type RunState = 'clear' | 'interrupted' | 'aborted' | 'siblingErrored' | 'discarded'

/** The evidence that the invariants of a turn use. */
export interface TurnEvidence {
  /** In emission order. */
  readonly calls: readonly CallEvidence[]
  readonly gate: string
  readonly run: RunState
  /** The sequence of abort states, and when each began. */
  readonly runs: readonly { readonly run: RunState; readonly at: number }[]
  readonly maxConcurrency: number
  /** The ids of results, in the order readers got them. */
  readonly order: readonly string[]
  /** All messages that readers got. */
  readonly messages: readonly Message[]
  /** The number of readers that wait for a message. */
  readonly sleepingReaders: number
  /** The executor was asked why calls wait. */
  readonly areWaitsExplained: boolean
  /** Every call has been handed over, or the run was discarded. */
  readonly isOver: boolean
  /** Descriptions of what should have been cleaned up by the end; filled only in a held world. */
  readonly leftovers: readonly string[]
}

/** Executing, and not waiting for a later answer. */
export const mayBeAtWork = ({ phase }: CallEvidence): boolean =>
  phase.startsWith('executing') && phase !== 'executing.permission.later'

/** Also excludes a call that has just asked: unless the answer is immediate, it does not use a slot. */
export const isAtWork = (call: CallEvidence): boolean =>
  mayBeAtWork(call) && call.phase !== 'executing.permission.asking'

/** No call can start in this state. */
export const isClosed = (run: RunState): boolean => run === 'aborted' || run === 'siblingErrored' || run === 'discarded'
