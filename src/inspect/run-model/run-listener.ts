import type { CallStage } from '../../../machines/index.ts'
import type { FrameOf } from '../frames/frame.ts'
import type { ActorState, CallState, CastState, RunState, ServerState } from './run-state.ts'

export type CallIn<Run extends RunState> = Run['calls'][number]
export type ActorIn<Cast extends CastState> =
  Cast['actors'] extends Map<string, infer Actor extends ActorState> ? Actor : never

/**
 * The callbacks of a projection. The `new…` methods create a record from the model's part, usually by adding fields.
 * The `on…` methods run after the model has changed, and only for actors and calls that the model knows.
 */
export interface CastListener<Cast extends CastState = CastState> {
  newActor(state: ActorState, frame: FrameOf<'actor'>): ActorIn<Cast>
  onActor?(actor: ActorIn<Cast>, frame: FrameOf<'actor'>, cast: Cast): void
  /** The active states changed only if `frame.active` is present. */
  onStep?(actor: ActorIn<Cast>, frame: FrameOf<'step'>, cast: Cast): void
  onLeft?(frame: FrameOf<'left'>, cast: Cast): void
}

export interface RunListener<Run extends RunState = RunState> extends CastListener<Run> {
  newCall(state: CallState, frame: FrameOf<'call'>): CallIn<Run>
  /** Once per call: a later frame for the same call only updates its name, label and input. */
  onCall?(call: CallIn<Run>, frame: FrameOf<'call'>, run: Run): void
  /** The stage or the lane changed. */
  onStage?(call: CallIn<Run>, before: CallStage, frame: FrameOf<'schedule'>, run: Run): void
  onWaits?(frame: FrameOf<'schedule'>, run: Run): void
  /** Once per run, after the actor's own step. */
  onDiscarded?(frame: FrameOf<'actor'> | FrameOf<'step'>, run: Run): void
  /** The call is undefined if the executor was aborted for another reason than a call. */
  onAbort?(call: CallIn<Run> | undefined, frame: FrameOf<'abort'>, run: Run): void
  onEnding?(call: CallIn<Run>, frame: FrameOf<'ending'>, run: Run): void
  onProgress?(call: CallIn<Run>, frame: FrameOf<'progress'>, run: Run): void
  onResult?(call: CallIn<Run>, frame: FrameOf<'result'>, run: Run): void
}

/** A projection of a whole recording. */
export interface ModelListener<Run extends RunState, Server extends ServerState> {
  readonly run: RunListener<Run>
  readonly server: CastListener<Server>
  newRun(state: RunState<CallIn<Run>, ActorIn<Run>>, frame: FrameOf<'run'>): Run
  newServer(state: ServerState<ActorIn<Server>>, frame: FrameOf<'server'>): Server
}
