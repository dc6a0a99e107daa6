import type { Admission, Ending } from '../../machines/index.ts'
import type { Message } from '../messages/message.ts'

/** What the tool's body itself showed, where the test holds it; the charts have no part in it. */
export interface BodyEvidence {
  /** How often it has begun. */
  starts: number
  isRunning: boolean
  /** The turn gave it up: it no longer counts for anybody. */
  readonly isAbandoned: boolean
  /** How it ended by itself, whether somebody had told it to stop by then, and what its result has to say. */
  outcome: { readonly ok: boolean; readonly wasTold: boolean; readonly says?: string } | undefined
  /** How many progress messages it sent while it ran. */
  reported: number
  readonly signal: AbortSignal
}

/** One call, as it was seen from outside. `at` counts what was seen, not time. */
export interface CallEvidence {
  readonly id: string
  readonly name: string
  /** Place in the order in which the model asked. */
  index: number
  readonly stopsAtInterrupt: boolean
  /** May run beside other safe calls, as things stand. */
  isSafe: boolean
  isHeld: boolean
  /** Where its own chart is: `queued`, `executing.calling`, `completed` and so on. */
  phase: string
  /** It has been executing, and did not go back to the line since. */
  hasExecuted: boolean
  /** An unsafe call before it still waited when it began to execute. */
  overtook: string | undefined
  /** Each time its body began: when, and beside which others. */
  readonly starts: { readonly at: number; readonly beside: readonly string[]; readonly isSafe: boolean }[]
  /** When it was first told to stop. */
  toldAt: number | undefined
  /** Its time was over, so that it was told to stop whatever else happened. */
  hasTimedOut: boolean
  deniedAt: number | undefined
  completedAt: number | undefined
  ending: Ending | undefined
  readonly results: { readonly at: number; readonly isError: boolean; readonly text: string }[]
  progressRead: number
  /** Progress of which a reader was told that it had been dropped. */
  progressDropped: number
  lastProgressAt: number | undefined
  /** Why it waits, as the executor says. */
  explained: Admission | undefined
  body: BodyEvidence | undefined
}

export type RunState = 'clear' | 'interrupted' | 'aborted' | 'siblingErrored' | 'discarded'

/** What is known of a turn: what the invariants look at. */
export interface TurnEvidence {
  /** In the order in which the model asked. */
  readonly calls: readonly CallEvidence[]
  readonly gate: string
  readonly run: RunState
  /** How the aborts went on, and when. */
  readonly runs: readonly { readonly run: RunState; readonly at: number }[]
  readonly maxConcurrency: number
  /** Ids of results as readers got them. */
  readonly order: readonly string[]
  /** All that readers got. */
  readonly messages: readonly Message[]
  /** Readers that wait for a message. */
  readonly sleepingReaders: number
  /** Somebody asked the executor why calls wait. */
  readonly areWaitsExplained: boolean
  /** Every call has been handed over, or the run was discarded. */
  readonly isOver: boolean
  /** What should have been cleared away by the end, in words; filled in where the test holds the world around. */
  readonly leftovers: readonly string[]
}
