import type {
  AbortCause,
  CallStage,
  Decision,
  Ending,
  Lane,
  Refusal,
  ResourceKeys,
  StopCause,
} from '../../../machines/index.ts'
import type { BackgroundStatus } from '../../background/detached-call.ts'
import type { ChartDefinition } from './chart-definition.ts'
import type { Patch } from './diff-value.ts'
import type { Encoded } from './encode-value.ts'

/** Incremented when a frame changes in a way that older readers would misread. Every stream begins with it. */
export const frameVersion = 1

/** One observation, as sent to the browser and written to a recording: a line of JSON. */
export type Frame = Stamp & FrameBody

/** The frame of one type, such as `FrameOf<'call'>`. */
export type FrameOf<Type extends Frame['type']> = Extract<Frame, { type: Type }>

export interface Stamp {
  /** Increments by one; a missing number means that frames were lost. */
  readonly seq: number
  /** Milliseconds since the `epoch` of the stream's head. */
  readonly at: number
  /** The executor or connection it belongs to; 0 is the stream itself. */
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
  | ScheduleFrame
  | AbortFrame
  | EndingFrame
  | DecisionFrame
  | AttemptFrame
  | PlaceFrame
  | LocksFrame
  | BackgroundFrame
  | ProgressFrame
  | ResultFrame
  | SaidFrame
  | ReplyFrame
  | QuestionsFrame
  | CanFrame
  | WarningFrame
  | GapFrame
  | BreachFrame
  | LeftFrame

export interface HeadFrame {
  readonly type: 'head'
  readonly version: number
  /** The time at which `at` is 0, in milliseconds since 1970. */
  readonly epoch: number
}

/** Recording of an executor begins. A second such frame for the same run replaces everything known about it. */
export interface RunFrame {
  readonly type: 'run'
  readonly title: string
  /** The recorder attached after the run had begun; earlier events are unknown. */
  readonly isLate: boolean
  /** Null: no limit. */
  readonly maxConcurrency: number | null
  /** The executor's actor. Another actor without a parent, such as a query's, contains it. */
  readonly root: string
  /** The call in another run that this run works for, if it belongs to a sub-agent. */
  readonly parentToolUseID?: string
  /** The run uses plain XState, which does not expose guard results. */
  readonly guards?: 'unavailable'
  /** It goes on where an earlier process stopped. */
  readonly recovered?: Recovered
  /** It is the rest of the turn before it, after a crash or a suspension, with the same calls. */
  readonly isContinued?: boolean
}

/** Where a run that goes on comes from, and who goes on with it. */
export interface Recovered {
  /** The id of the session. */
  readonly session: string
  /** The owner that stopped, if it is known. */
  readonly from: string | null
  readonly by: string
}

/**
 * Recording of a connection to a server begins. Its chart, actor, events and steps follow under the same number, like
 * those of an executor. A second such frame replaces everything known about it.
 */
export interface ServerFrame {
  readonly type: 'server'
  readonly name: string
  /** The connection's actor. */
  readonly root: string
}

/** A call of any executor begins or stops waiting for this server. */
export interface WaitingFrame {
  readonly type: 'waiting'
  readonly call: string
  readonly isWaiting: boolean
}

export interface ChartFrame {
  readonly type: 'chart'
  readonly chart: ChartDefinition
}

/** An actor, with its active states when first seen (by number in its chart). */
export interface ActorFrame {
  readonly type: 'actor'
  readonly actor: string
  readonly chart: string
  readonly parent: string | null
  readonly active: readonly number[]
  readonly context: Encoded
}

/** An event that is being delivered. `from` is null if the host or a tool's body sent it. */
export interface EventFrame {
  readonly type: 'event'
  readonly from: string | null
  readonly to: string
  readonly event: string
  readonly data: Encoded
}

export type GuardAnswer = 'passed' | 'failed' | 'notAsked'

/** The transitions that a chart considered before a step, and the result of each guard. */
export interface GuardsFrame {
  readonly type: 'guards'
  readonly actor: string
  readonly event: string
  readonly candidates: readonly (readonly [transition: number, answer: GuardAnswer])[]
  /** The call that may not start, why, and the calls it waits for: the reason behind `canExecuteTool`. */
  readonly refusal?: GuardRefusal
}

export interface GuardRefusal {
  readonly call: string
  readonly because: Refusal
  readonly blockers: readonly string[]
  /** The resource, where that is the reason. */
  readonly key?: string
}

/** One microstep and the transitions it took. Unchanged parts are omitted. */
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
  /** For display, such as `Bash(npm test)`. */
  readonly label: string
  readonly input: Encoded
  readonly lane: Lane
  /** The resources that it names. A call that names others later has another frame. */
  readonly keys?: ResourceKeys
  readonly stopsAtInterrupt: boolean
  readonly stage: CallStage
}

/** The parts of the executor's schedule that a step changed. */
export interface ScheduleFrame {
  readonly type: 'schedule'
  readonly stages?: readonly (readonly [call: string, stage: CallStage, lane: Lane])[]
  readonly cursor?: CursorState
  /** All waiting calls and why they wait: complete each time. */
  readonly waits?: readonly WaitGroup[]
}

export interface CursorState {
  /** The first call whose result has not been handed over. */
  readonly next: number
  /** The first call that is not completed. */
  readonly completedUpTo: number
  /** The call that holds back finished results, if any. */
  readonly waitsFor: string | null
}

export interface WaitGroup {
  readonly because: Refusal
  readonly blockers: readonly string[]
  /** The resource, where that is the reason. */
  readonly key?: string
  /** Ranges of call indices, both ends inclusive. */
  readonly calls: readonly (readonly [from: number, to: number])[]
}

/** A call that executes waits for a key that other executors use too. Without holders, it no longer waits. */
export interface LocksFrame {
  readonly type: 'locks'
  readonly call: string
  /** The key, as its first holder names it. */
  readonly key: string | null
  /** Those that hold it, or else those that wait for it before this call. */
  readonly holders: readonly LocksHolder[]
}

/** A call of this or of another executor. */
export interface LocksHolder {
  readonly call: string
  readonly name: string
  /** The id of its session; absent outside of sessions. */
  readonly session?: string
  /** The tool of the call that it runs inside of. */
  readonly agent?: string
  /** It waits for the key too, and comes first. */
  readonly isWaiting?: true
}

export type EncodedCause = { readonly kind: StopCause['kind']; readonly reason: Encoded; readonly description?: string }

/** An abort reaches the executor or one call. */
export interface AbortFrame {
  readonly type: 'abort'
  readonly layer: 'executor' | 'call'
  /** The call that it reached; for the layer `executor`, the call that caused it, if any. */
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

/** The latest decision about whether a call may run, and its source. */
export interface DecisionFrame {
  readonly type: 'decision'
  readonly call: string
  readonly behavior: Decision['behavior']
  readonly source: EncodedSource
}

/** The source of a decision or a question. `name` is the rule, the mode or the hook. */
export interface EncodedSource {
  readonly by: Decision['source']['by']
  readonly name?: string
}

/** A body failed. */
export interface AttemptFrame {
  readonly type: 'attempt'
  readonly call: string
  /** From 1. */
  readonly attempt: number
  readonly error: Encoded
  /** How long until the next attempt; null if there is none. */
  readonly backoffMs: number | null
}

/** The body of a call runs elsewhere: it waits for a worker, a worker has taken it, or that worker was lost. */
export interface PlaceFrame {
  readonly type: 'place'
  readonly call: string
  readonly place: 'sent' | 'remote' | 'lost'
  /** The worker that has taken it. */
  readonly worker: string | null
  /** How many calls wait in its queue; null if nobody has said. */
  readonly waiting: number | null
}

/** A call of this query is in the background, whichever turn it comes from. */
export interface BackgroundFrame {
  readonly type: 'background'
  /** The id of the background call. */
  readonly id: string
  readonly call: string
  readonly name: string
  readonly label: string
  /** `delivered`: its outcome is part of the conversation. `dropped`: nobody gets its outcome. */
  readonly status: BackgroundStatus | 'delivered' | 'dropped'
}

export interface ProgressFrame {
  readonly type: 'progress'
  readonly call: string
  /** The total so far; only the newest report between two frames is included. */
  readonly count: number
  readonly data: Encoded
}

/** A message of the call, other than progress, that a reader took. */
export interface ResultFrame {
  readonly type: 'result'
  readonly call: string
  readonly message: string
  readonly isError: boolean
  readonly content: Encoded
}

/** Text around the calls, such as a model's reply in pieces. Present only if the host passes it to the recorder. */
export interface SaidFrame {
  readonly type: 'said'
  /** `host` is the program itself. */
  readonly by: 'user' | 'model' | 'thought' | 'host'
  readonly text: string
}

/** The model has finished a reply. */
export interface ReplyFrame {
  readonly type: 'reply'
  readonly model: string | null
  readonly stopReason: string
  readonly tokens: ReplyTokens
  /** Present only if the host gave the price of the model. */
  readonly costUsd?: number
}

export interface ReplyTokens {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

export interface QuestionsFrame {
  readonly type: 'questions'
  readonly open: readonly EncodedQuestion[]
}

export interface EncodedQuestion {
  readonly call: string
  readonly name: string
  readonly input: Encoded
  /** Why it asks. */
  readonly because?: EncodedSource
  /** The words of the hook or the tool that wants it asked. */
  readonly message?: string
  /** A rule that would allow every such call. */
  readonly rule?: string
}

export type Command = 'interrupt' | 'abort' | 'discard' | 'answer' | 'detach'

/** The commands that the chart accepts now. */
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

/** Frames are missing here. */
export interface GapFrame {
  readonly type: 'gap'
  readonly because: 'slow' | 'trimmed' | 'recorder' | 'truncated'
  readonly lost: number
}

/** An invariant does not hold at this point, as found by the checks that run during recording. */
export interface BreachFrame {
  readonly type: 'breach'
  readonly invariant: string
  readonly problem: string
}

/** The recorder detached from this run; the run may continue. */
export interface LeftFrame {
  readonly type: 'left'
}
