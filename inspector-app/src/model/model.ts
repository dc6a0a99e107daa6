import {
  type ActorState,
  type CallState,
  type CastState,
  type Encoded,
  type EncodedCause,
  emptyRunModel,
  type GuardAnswer,
  type GuardRefusal,
  type Patch,
  type RunModel,
  type RunState,
  type ServerState,
  type WaitGroup,
} from '../../../src/inspect/index.ts'

/** The model of the page: the run model and the page's own fields, all derived from frames. */
export type Model = RunModel<Run, Server>

interface CastFields {
  startedAt: number
  /** How often each transition was taken, by all actors of a chart. */
  heat: Map<string, number[]>
}

/** Charts, and the actors that run them. */
export interface Cast extends CastState<Actor>, CastFields {}

/** A connection to a server. */
export interface Server extends ServerState<Actor>, CastFields {}

export interface Run extends RunState<Call, Actor>, CastFields {
  /** The waiting calls, in emission order. */
  waiting: Call[]
  aborts: Abort[]
  warnings: { seq: number; at: number; call: string | null; code: string; message: string }[]
  breaches: Breach[]
  /** Calls that a guard did not let start, newest last. */
  refusals: Refused[]
  /** How many there were, those that are no longer kept included. */
  refused: number
  yielded: number
  /** When the recorder detached; what had not ended then is not known any further. */
  leftAt: number | undefined
  /** Incremented when something is said or decided. */
  talk: number
  /** Incremented when calls change, so that unchanged parts are not redrawn. */
  version: number
}

export interface Actor extends ActorState {
  context: Encoded
  /** Newest last. */
  changes: { seq: number; at: number; patch: Patch; before: Encoded }[]
  ledger: LedgerEntry[]
  /** How often each transition was taken. */
  taken: Map<number, number>
  last: { seq: number; at: number; event: string; transitions: readonly number[] } | undefined
}

export interface LedgerEntry {
  refusal: GuardRefusal | undefined
  seq: number
  at: number
  event: string
  candidates: readonly (readonly [transition: number, answer: GuardAnswer])[]
}

/** A call that may not start, and the guards that said so. */
export interface Refused extends LedgerEntry {
  readonly refusal: GuardRefusal
  readonly actor: string
}

export interface Call extends CallState {
  addedAt: number
  startedAt: number | undefined
  completedAt: number | undefined
  yieldedAt: number | undefined
  wait: Wait | undefined
  /** Why it waited so far, oldest first; `wait` is the last one while it waits. */
  waited: Wait[]
  segments: Segment[]
  progress: { count: number; data: Encoded } | undefined
  /** Its run was discarded before its result was handed over. */
  isGivenUp: boolean
  abort: { at: number; event: string; cause: EncodedCause } | undefined
}

export interface Wait {
  because: WaitGroup['because']
  blockers: readonly string[]
  /** The resource that they hold, if that is the reason. */
  key?: string | undefined
  since: number
  until: number | undefined
}

/** A time span of a call in one state, named from the outside in: `executing`, `permission`, `asking`. */
interface Segment {
  path: readonly string[]
  from: number
  to: number | undefined
}

export interface Abort {
  seq: number
  at: number
  layer: 'executor' | 'call'
  from: 'host' | 'executor' | 'call'
  /** The call that caused it, if any. */
  by: string | null
  event: string
  cause: EncodedCause
  reached: { seq: number; at: number; call: string; event: string }[]
}

export type Rule = 'alone' | 'order' | 'once'

export interface Breach {
  rule: Rule
  seq: number
  at: number
  text: string
}

export const emptyModel = (): Model => emptyRunModel()
