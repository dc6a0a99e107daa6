import type {
  CallFrame,
  ChartDefinition,
  Command,
  CursorState,
  Encoded,
  EncodedCause,
  EndingFrame,
  GapFrame,
  GuardAnswer,
  Patch,
  QuestionsFrame,
  WaitGroup,
} from '../../../src/inspect/index.ts'

/** What is drawn: everything in it comes from frames, and from nowhere else. */
export interface Model {
  epoch: number
  /** Of the last frame. */
  seq: number
  at: number
  runs: Map<number, Run>
  /** They outlive the runs whose calls they answer. */
  servers: Map<number, Server>
  latestRun: number
  gaps: { seq: number; because: GapFrame['because']; lost: number }[]
}

/** Charts, and the actors that run them. */
export interface Cast {
  id: number
  isWatched: boolean
  startedAt: number
  charts: Map<string, ChartDefinition>
  actors: Map<string, Actor>
  /** The actor that all of it is about: an executor's, or a connection's. */
  root: string
  /** How often each transition was taken, by all actors of a chart. */
  heat: Map<string, number[]>
}

/** A connection to a server. */
export interface Server extends Cast {
  name: string
  /** The calls that wait for it, each with since when. */
  waiting: Map<string, number>
}

export interface Run extends Cast {
  title: string
  isLate: boolean
  maxConcurrency: number | null
  /** The call that it is the work of, where it is that of an agent. */
  inside: string | undefined
  /** That of the query it works for, if there is one. */
  around: string | undefined
  calls: Call[]
  byId: Map<string, Call>
  waiting: Call[]
  executing: Set<string>
  cursor: CursorState
  aborts: Abort[]
  questions: QuestionsFrame['open']
  can: readonly Command[]
  warnings: { seq: number; at: number; call: string | null; code: string; message: string }[]
  breaches: Breach[]
  yielded: number
  isDiscarded: boolean
  /** Grows with whatever changes the calls, so that what did not change need not be drawn again. */
  version: number
}

export interface Actor {
  id: string
  chart: string
  parent: string | null
  call: string | undefined
  active: readonly number[]
  isDone: boolean
  context: Encoded
  /** Newest last. */
  changes: { seq: number; at: number; patch: Patch; before: Encoded }[]
  ledger: LedgerEntry[]
  /** How often each transition was taken. */
  taken: Map<number, number>
  last: { seq: number; at: number; event: string; transitions: readonly number[] } | undefined
}

export interface LedgerEntry {
  seq: number
  at: number
  event: string
  candidates: readonly (readonly [transition: number, answer: GuardAnswer])[]
}

export interface Call {
  id: string
  index: number
  name: string
  label: string
  input: Encoded
  lane: CallFrame['lane']
  stage: CallFrame['stage']
  stopsAtInterrupt: boolean
  actor: string
  addedAt: number
  startedAt: number | undefined
  completedAt: number | undefined
  yieldedAt: number | undefined
  wait: Wait | undefined
  segments: Segment[]
  progress: { count: number; data: Encoded } | undefined
  results: { seq: number; at: number; message: string; isError: boolean; content: Encoded }[]
  /** Its run was discarded before its result had left: nothing of it leaves any more. */
  isGivenUp: boolean
  ending: Pick<EndingFrame, 'by' | 'kind' | 'reached'> | undefined
  abort: { at: number; event: string; cause: EncodedCause } | undefined
}

export interface Wait {
  because: WaitGroup['because']
  blockers: readonly string[]
  since: number
}

/** A stretch of a call's life in one state, named from the outside in: `executing`, `permission`, `asking`. */
export interface Segment {
  path: readonly string[]
  from: number
  to: number | undefined
}

export interface Abort {
  seq: number
  at: number
  layer: 'executor' | 'call'
  from: 'host' | 'executor' | 'call'
  /** The call that is the reason, where one is. */
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

export const emptyModel = (): Model => ({
  epoch: 0,
  seq: -1,
  at: 0,
  runs: new Map(),
  servers: new Map(),
  latestRun: 0,
  gaps: [],
})
