import type { AbortCause, CallStage, Ending, Lane, Refusal, StopCause } from '../../machines/index.ts'
import type { ChartDefinition } from './chart-definition.ts'
import type { Patch } from './diff-value.ts'
import type { Encoded } from './encode-value.ts'

/** Grows when a frame changes in a way that an older reader would misread. Every stream begins with it. */
export const frameVersion = 1

/** One thing that was seen, as it travels to the browser and into a recording: a line of JSON. */
export type Frame = Stamp & FrameBody

export interface Stamp {
  /** Counts up by one; where a number is missing, something was lost. */
  readonly seq: number
  /** Milliseconds since the `epoch` of the stream's head. */
  readonly at: number
  /** Which executor or connection it belongs to; 0 is the stream itself. */
  readonly run: number
}

export type FrameBody =
  | HeadFrame
  | RunFrame
  | ServerFrame
  | ChartFrame
  | ActorFrame
  | WaitingFrame
  | EventFrame
  | GuardsFrame
  | StepFrame
  | CallFrame
  | BooksFrame
  | AbortFrame
  | EndingFrame
  | ProgressFrame
  | ResultFrame
  | SaidFrame
  | QuestionsFrame
  | CanFrame
  | WarningFrame
  | GapFrame
  | BreachFrame
  | LeftFrame

export interface HeadFrame {
  readonly type: 'head'
  readonly version: number
  /** When `at` was 0, in milliseconds since 1970. */
  readonly epoch: number
}

/** An executor comes into view. Seen again for a known run, it begins that run's picture anew. */
export interface RunFrame {
  readonly type: 'run'
  readonly title: string
  /** It ran already when the recorder came: what was before is not known. */
  readonly isLate: boolean
  /** Null: no limit. */
  readonly maxConcurrency: number | null
  /** The executor's actor; others without a parent stand around it, such as a query's. */
  readonly root: string
  /** The call that it is the work of, where it is that of an agent inside another run. */
  readonly inside?: string
}

/**
 * A connection to a server comes into view. Its chart, actor, events and steps follow under the same number, like those of
 * an executor; seen again, its picture begins anew.
 */
export interface ServerFrame {
  readonly type: 'server'
  readonly name: string
  /** The connection's actor. */
  readonly root: string
}

/** A call of whatever executor begins to wait for this server to be there, or does not wait for it any more. */
export interface WaitingFrame {
  readonly type: 'waiting'
  readonly call: string
  readonly isWaiting: boolean
}

export interface ChartFrame {
  readonly type: 'chart'
  readonly chart: ChartDefinition
}

/** An actor, in the states (by number in its chart) in which it was first seen. */
export interface ActorFrame {
  readonly type: 'actor'
  readonly actor: string
  readonly chart: string
  readonly parent: string | null
  readonly active: readonly number[]
  readonly context: Encoded
}

/** An event on its way. `from` is null where the host or a tool's body sent it. */
export interface EventFrame {
  readonly type: 'event'
  readonly from: string | null
  readonly to: string
  readonly event: string
  readonly data: Encoded
}

export type GuardAnswer = 'passed' | 'failed' | 'notAsked'

/** What a chart considered before a step, and how each guard answered at that moment. */
export interface GuardsFrame {
  readonly type: 'guards'
  readonly actor: string
  readonly event: string
  readonly candidates: readonly (readonly [transition: number, answer: GuardAnswer])[]
}

/** One microstep: the very transitions that were taken. What did not change is left out. */
export interface StepFrame {
  readonly type: 'step'
  readonly actor: string
  readonly event: string
  readonly transitions: readonly number[]
  readonly active?: readonly number[]
  readonly context?: Patch
  readonly isDone?: true
}

export interface CallFrame {
  readonly type: 'call'
  readonly call: string
  readonly actor: string
  readonly index: number
  readonly name: string
  /** As people read it, such as `Bash(npm test)`. */
  readonly label: string
  readonly input: Encoded
  readonly lane: Lane
  readonly stopsAtInterrupt: boolean
  readonly stage: CallStage
}

/** The executor's books after a step, as far as they changed. */
export interface BooksFrame {
  readonly type: 'books'
  readonly stages?: readonly (readonly [call: string, stage: CallStage, lane: Lane])[]
  readonly cursor?: CursorState
  /** All calls that wait, and why: the whole picture each time. */
  readonly waits?: readonly WaitGroup[]
}

export interface CursorState {
  /** The first call whose result has not been handed over. */
  readonly next: number
  /** The first call that is not completed, or has one before it that is not. */
  readonly settled: number
  /** Whom the cursor waits for, where something waits behind it. */
  readonly waitsFor: string | null
}

export interface WaitGroup {
  readonly because: Refusal
  readonly blockers: readonly string[]
  /** Places in the order of the calls, from and to, both included. */
  readonly calls: readonly (readonly [from: number, to: number])[]
}

export type EncodedCause = { readonly kind: StopCause['kind']; readonly reason: Encoded; readonly description?: string }

/** An abort arrives: at the executor, or at one call. */
export interface AbortFrame {
  readonly type: 'abort'
  readonly layer: 'executor' | 'call'
  /** The call that it reached; for the layer `executor` the call that is the reason, if one is. */
  readonly call: string | null
  readonly from: 'host' | 'executor' | 'call'
  readonly event: string
  readonly cause: EncodedCause
}

export interface EndingFrame {
  readonly type: 'ending'
  readonly call: string
  readonly by: Ending['by']
  readonly kind: AbortCause['kind'] | null
  readonly reached: string | null
}

export interface ProgressFrame {
  readonly type: 'progress'
  readonly call: string
  /** How many there were so far; between two frames the older ones are left out. */
  readonly count: number
  readonly data: Encoded
}

/** A message of the call that a reader took, other than progress. */
export interface ResultFrame {
  readonly type: 'result'
  readonly call: string
  readonly message: string
  readonly isError: boolean
  readonly content: Encoded
}

/** What was said around the calls, as it came: a model's text in pieces. Only where the host tells the recorder. */
export interface SaidFrame {
  readonly type: 'said'
  /** `host` is the program itself. */
  readonly by: 'user' | 'model' | 'thought' | 'host'
  readonly text: string
}

export interface QuestionsFrame {
  readonly type: 'questions'
  readonly open: readonly { readonly call: string; readonly name: string; readonly input: Encoded }[]
}

export type Command = 'interrupt' | 'abort' | 'discard' | 'answer'

/** What the executor chart would take now. */
export interface CanFrame {
  readonly type: 'can'
  readonly commands: readonly Command[]
}

export interface WarningFrame {
  readonly type: 'warning'
  readonly call: string | null
  readonly code: string
  readonly message: string
}

/** Something is missing here. */
export interface GapFrame {
  readonly type: 'gap'
  readonly because: 'slow' | 'trimmed' | 'recorder' | 'truncated'
  readonly lost: number
}

/** Something that must hold did not, up to here: what whoever watches found, with rules of their own. */
export interface BreachFrame {
  readonly type: 'breach'
  readonly invariant: string
  readonly problem: string
}

/** The recorder left this run; it may go on unseen. */
export interface LeftFrame {
  readonly type: 'left'
}
