import type { BackgroundStatus } from '../../background/detached-call.ts'
import type { ChartDefinition } from '../frames/chart-definition.ts'
import type { Encoded } from '../frames/encode-value.ts'
import type {
  CallFrame,
  Command,
  CursorState,
  EndingFrame,
  FrameOf,
  GapFrame,
  QuestionsFrame,
  Recovered,
  WaitGroup,
} from '../frames/frame.ts'

/**
 * What the frames say about a recording: plain data that `structuredClone` can copy. `foldFrame` changes it in place.
 * A projection may add fields of its own to runs, servers, calls and actors.
 */
export interface RunModel<Run extends RunState = RunState, Server extends ServerState = ServerState> {
  epoch: number
  /** Of the last frame. */
  seq: number
  at: number
  readonly runs: Map<number, Run>
  readonly servers: Map<number, Server>
  latestRun: number
  readonly gaps: { readonly seq: number; readonly because: GapFrame['because']; readonly lost: number }[]
}

/** Charts and the actors that run them: what an executor and a connection have in common. */
export interface CastState<Actor extends ActorState = ActorState> {
  readonly id: number
  /** False after the recorder detached. */
  isWatched: boolean
  readonly charts: Map<string, ChartDefinition>
  readonly actors: Map<string, Actor>
  /** The actor of the executor or of the connection. */
  readonly root: string
}

export interface ActorState {
  readonly id: string
  /** The id of its chart. */
  readonly chart: string
  readonly parent: string | null
  /** The active states, by number in the chart. */
  active: readonly number[]
  isDone: boolean
}

/** A connection to a server. */
export interface ServerState<Actor extends ActorState = ActorState> extends CastState<Actor> {
  readonly name: string
  /** The calls that wait for the connection, and since when. */
  readonly waiting: Map<string, number>
}

/** One executor: its calls, its queue and its cursor. */
export interface RunState<Call extends CallState = CallState, Actor extends ActorState = ActorState>
  extends CastState<Actor> {
  readonly title: string
  /** The recorder attached after the run had begun. */
  readonly isLate: boolean
  /** True while the frames of a late recorder describe the state before it attached. */
  isPicture: boolean
  /** Null: no limit. */
  readonly maxConcurrency: number | null
  /** The call that a sub-agent's run works for. */
  readonly parentToolUseID: string | undefined
  /** The number of the run that has this call, if it is known. */
  readonly parentRun: number | undefined
  /** It goes on where an earlier process stopped. */
  readonly recovered: Recovered | undefined
  /** It is the rest of the turn before it. */
  readonly isContinued: boolean
  /** False on plain XState, which does not expose guard results. */
  readonly tellsGuards: boolean
  /** The actor of the query that owns the executor. */
  queryActor: string | undefined
  /** In the order in which the model asked. */
  readonly calls: Call[]
  readonly byId: Map<string, Call>
  readonly byActor: Map<string, Call>
  /** Why calls wait. `waitOf` finds the group of one call. */
  waits: readonly WaitGroup[]
  readonly executing: Set<string>
  cursor: CursorState
  can: readonly Command[]
  questions: QuestionsFrame['open']
  /** The background calls of the query, by id, until their outcomes are delivered. */
  readonly background: Map<string, BackgroundState>
  isDiscarded: boolean
  /** The texts around the calls; pieces of one speaker are joined. */
  readonly said: Said[]
  /** The finished replies of the model. */
  readonly replies: FrameOf<'reply'>[]
}

export interface Said {
  readonly by: FrameOf<'said'>['by']
  text: string
  /** Of the first piece. */
  readonly seq: number
  readonly at: number
  /** Of the last piece. */
  until: number
}

/** A call in the background, whichever turn it comes from. */
export interface BackgroundState {
  readonly id: string
  readonly call: string
  readonly name: string
  readonly label: string
  readonly status: FrameOf<'background'>['status']
  /** Since when it is there. */
  readonly since: number
}

interface DetachedState {
  readonly id: string
  readonly from: number
  to: number | undefined
  status: BackgroundStatus
  /** What became of its outcome. */
  fate: 'delivered' | 'dropped' | undefined
}

export interface CallState {
  readonly id: string
  readonly index: number
  name: string
  label: string
  input: Encoded
  stopsAtInterrupt: boolean
  readonly actor: string
  lane: CallFrame['lane']
  keys: CallFrame['keys']
  stage: CallFrame['stage']
  ending: Pick<EndingFrame, 'by' | 'kind' | 'reached'> | undefined
  /** The source of the last decision whether it may run. */
  decision: Pick<FrameOf<'decision'>, 'behavior' | 'source' | 'at'> | undefined
  /** The decision that asked a person, if one did. */
  asked: Pick<FrameOf<'decision'>, 'behavior' | 'source' | 'at'> | undefined
  /** Where its body runs, if not in the host's process, and since when. */
  place: Pick<FrameOf<'place'>, 'place' | 'worker' | 'waiting' | 'at'> | undefined
  /** The key of other executors that it waits for, who holds it, and since when it waits. */
  lockWait: Pick<FrameOf<'locks'>, 'key' | 'holders' | 'at'> | undefined
  /** From when to when its body ran in the background, and how it is or how it ended. */
  detached: DetachedState | undefined
  /** The bodies that failed. */
  readonly failures: FrameOf<'attempt'>[]
  /** The frame of its first mention. */
  readonly seq: number
  /** The messages of the call that readers took, other than progress. */
  readonly results: FrameOf<'result'>[]
}

/** A model without any frame. */
export const emptyRunModel = <Run extends RunState, Server extends ServerState>(): RunModel<Run, Server> => ({
  epoch: 0,
  seq: -1,
  at: 0,
  runs: new Map(),
  servers: new Map(),
  latestRun: 0,
  gaps: [],
})

const emptyCast = <Actor extends ActorState>(id: number, root: string): CastState<Actor> => ({
  id,
  isWatched: true,
  charts: new Map(),
  actors: new Map(),
  root,
})

/** A run as its first frame describes it, and the number of the run around it. */
export const newRunState = <Call extends CallState = CallState, Actor extends ActorState = ActorState>(
  { run, root, title, isLate, maxConcurrency, parentToolUseID, guards, recovered, isContinued = false }: FrameOf<'run'>,
  parentRun?: number,
): RunState<Call, Actor> => ({
  ...emptyCast(run, root),
  title,
  isLate,
  isPicture: isLate,
  maxConcurrency,
  parentToolUseID,
  parentRun,
  recovered,
  isContinued,
  tellsGuards: guards === undefined,
  queryActor: undefined,
  calls: [],
  byId: new Map(),
  byActor: new Map(),
  waits: [],
  executing: new Set(),
  cursor: { next: 0, completedUpTo: 0, waitsFor: null },
  can: [],
  questions: [],
  background: new Map(),
  isDiscarded: false,
  said: [],
  replies: [],
})

/** A connection as its first frame describes it. */
export const newServerState = <Actor extends ActorState = ActorState>({
  run,
  root,
  name,
}: FrameOf<'server'>): ServerState<Actor> => ({ ...emptyCast(run, root), name, waiting: new Map() })
