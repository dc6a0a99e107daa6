import type { Frame, FrameOf } from '../frames/frame.ts'
import { activeStates } from './active-states.ts'
import { numberAround } from './run-around.ts'
import type { ActorIn, CallIn, CastListener, ModelListener, RunListener } from './run-listener.ts'
import {
  type CastState,
  newRunState,
  newServerState,
  type RunModel,
  type RunState,
  type ServerState,
} from './run-state.ts'

const maxGaps = 1_000

/** Applies one frame to the model of a whole recording. A second `run` or `server` frame resets that run or server. */
export function foldFrame<Run extends RunState, Server extends ServerState>(
  model: RunModel<Run, Server>,
  frame: Frame,
  listener: ModelListener<Run, Server>,
): void {
  model.seq = frame.seq
  model.at = Math.max(model.at, frame.at)
  if (frame.type === 'head') model.epoch = frame.epoch
  else if (frame.type === 'gap') {
    model.gaps.push({ seq: frame.seq, because: frame.because, lost: frame.lost })
    if (model.gaps.length > maxGaps) model.gaps.shift()
  } else if (frame.type === 'run') {
    const around = numberAround(model.runs, frame)
    model.runs.set(frame.run, listener.newRun(newRunState<CallIn<Run>, ActorIn<Run>>(frame, around), frame))
    model.latestRun = Math.max(model.latestRun, frame.run)
  } else if (frame.type === 'server') {
    model.servers.set(frame.run, listener.newServer(newServerState<ActorIn<Server>>(frame), frame))
  } else {
    const run = model.runs.get(frame.run)
    if (run !== undefined) {
      foldRun(run, frame, listener.run)
      if (frame.type === 'background') endInOthers(model, run, frame)
      return
    }
    const server = model.servers.get(frame.run)
    if (server !== undefined) foldServer(server, frame, listener.server)
  }
}

/** A background call ends in a later turn than its own; the turns before it learn of it too. */
function endInOthers({ runs }: Pick<RunModel<RunState>, 'runs'>, own: RunState, frame: FrameOf<'background'>): void {
  if (frame.status === 'running' || frame.status === 'stopping') return
  for (const run of runs.values()) {
    const isListed = run.background.get(frame.id)?.call === frame.call
    if (run !== own && (isListed || run.byId.get(frame.call)?.detached?.id === frame.id)) foldBackground(run, frame)
  }
}

/** Applies one frame to its connection. */
export function foldServer<Server extends ServerState>(
  server: Server,
  frame: Frame,
  listener: CastListener<Server>,
): void {
  if (frame.type !== 'waiting') return foldCast(server, frame, listener)
  if (!frame.isWaiting) server.waiting.delete(frame.call)
  else if (!server.waiting.has(frame.call)) server.waiting.set(frame.call, frame.at)
}

/** Applies one frame to its run. A frame that does not fit is ignored: anybody may have written the recording. */
export function foldRun<Run extends RunState>(run: Run, frame: Frame, listener: RunListener<Run>): void {
  switch (frame.type) {
    case 'actor':
      // a second actor without a parent belongs to the query
      if (frame.parent === null && frame.actor !== run.root) run.queryActor = frame.actor
      foldCast(run, frame, listener)
      return noteDiscard(run, frame, listener)
    case 'step':
      foldCast(run, frame, listener)
      return frame.active === undefined ? undefined : noteDiscard(run, frame, listener)
    case 'chart':
    case 'left':
      return foldCast(run, frame, listener)
    case 'call':
      return foldCall(run, frame, listener)
    case 'schedule':
      return foldSchedule(run, frame, listener)
    case 'abort': {
      const call = frame.call === null ? undefined : run.byId.get(frame.call)
      if (call !== undefined || frame.layer === 'executor') listener.onAbort?.(call, frame, run)
      return
    }
    case 'ending': {
      const call = run.byId.get(frame.call)
      if (call === undefined) return
      call.ending = { by: frame.by, kind: frame.kind, reached: frame.reached }
      return listener.onEnding?.(call, frame, run)
    }
    case 'result': {
      const call = run.byId.get(frame.call)
      if (call === undefined) return
      call.results.push(frame)
      return listener.onResult?.(call, frame, run)
    }
    case 'decision': {
      const call = run.byId.get(frame.call)
      if (call === undefined) return
      const { behavior, source, at } = frame
      call.decision = { behavior, source, at }
      if (behavior === 'ask' || behavior === 'defer') call.asked = call.decision
      return
    }
    case 'attempt':
      return void run.byId.get(frame.call)?.failures.push(frame)
    case 'place': {
      const call = run.byId.get(frame.call)
      if (call === undefined) return
      const { place, worker, waiting } = frame
      // more calls in the queue, but the same place as before
      const before = call.place?.place === place && call.place.worker === worker ? call.place : frame
      call.place = { place, worker, waiting, at: before.at }
      return
    }
    case 'locks': {
      const call = run.byId.get(frame.call)
      if (call === undefined) return
      const { key, holders, at } = frame
      call.lockWait = holders.length === 0 ? undefined : { key, holders, at: call.lockWait?.at ?? at }
      return
    }
    case 'background':
      return foldBackground(run, frame)
    case 'said':
      return foldSaid(run, frame)
    case 'reply':
      return void run.replies.push(frame)
    case 'progress': {
      const call = run.byId.get(frame.call)
      if (call !== undefined) listener.onProgress?.(call, frame, run)
      return
    }
    case 'questions':
      run.questions = frame.open
      return
    case 'can':
      run.can = frame.commands
  }
}

/** A call whose outcome is part of the conversation is no longer in the background. */
function foldBackground(run: RunState, { id, call: of, name, label, status, at }: FrameOf<'background'>): void {
  const isGone = status === 'delivered' || status === 'dropped'
  const since = run.background.get(id)?.since ?? at
  if (isGone) run.background.delete(id)
  else run.background.set(id, { id, call: of, name, label, status, since })
  const call = run.byId.get(of)
  if (call === undefined) return
  const isRunning = status === 'running' || status === 'stopping'
  call.detached ??= { id, from: at, to: undefined, status: 'running', fate: undefined }
  if (isGone) call.detached.fate = status
  else call.detached.status = status
  if (!isRunning) call.detached.to ??= at
}

const maxSaidLength = 100_000

/** A model's reply arrives in pieces. */
function foldSaid(run: RunState, { by, text, seq, at }: FrameOf<'said'>): void {
  const last = run.said.at(-1)
  const isBetween = (run.calls.at(-1)?.seq ?? -1) > (last?.seq ?? 0)
  const isPiece = last?.by === by && (by === 'model' || by === 'thought') && !isBetween
  if (!isPiece) return void run.said.push({ by, text, seq, at, until: at })
  if (last.text.length < maxSaidLength) last.text += text
  last.until = at
}

function foldCast<Cast extends CastState>(cast: Cast, frame: Frame, listener: CastListener<Cast>): void {
  if (frame.type === 'step') {
    const actor = cast.actors.get(frame.actor) as ActorIn<Cast> | undefined
    if (actor === undefined) return
    if (frame.active !== undefined) actor.active = frame.active
    if (frame.isDone === true) actor.isDone = true
    listener.onStep?.(actor, frame, cast)
  } else if (frame.type === 'actor') {
    const { actor: id, chart, parent, active } = frame
    const actor = listener.newActor({ id, chart, parent, active, isDone: false }, frame)
    cast.actors.set(id, actor)
    listener.onActor?.(actor, frame, cast)
  } else if (frame.type === 'chart') cast.charts.set(frame.chart.id, frame.chart)
  else if (frame.type === 'left') {
    cast.isWatched = false
    listener.onLeft?.(frame, cast)
  }
}

function noteDiscard<Run extends RunState>(
  run: Run,
  frame: FrameOf<'actor'> | FrameOf<'step'>,
  listener: RunListener<Run>,
): void {
  if (run.isDiscarded || frame.actor !== run.root) return
  const root = run.actors.get(run.root)
  // use the chart's state: the cause may be an earlier abort
  if (!activeStates(run.charts.get(root?.chart ?? ''), root?.active ?? []).names.includes('discarded')) return
  run.isDiscarded = true
  listener.onDiscarded?.(frame, run)
}

function foldCall<Run extends RunState>(run: Run, frame: FrameOf<'call'>, listener: RunListener<Run>): void {
  const { call: id, index, name, label, input, lane, keys, stage, stopsAtInterrupt, actor } = frame
  const known = run.byId.get(id)
  if (known !== undefined) return void Object.assign(known, { name, label, input, keys, stopsAtInterrupt })
  // a hostile recording could skip indices to force a huge array
  if (index !== run.calls.length) return
  const call: CallIn<Run> = listener.newCall(
    {
      id,
      index,
      name,
      label,
      input,
      keys,
      stopsAtInterrupt,
      actor,
      lane,
      stage,
      seq: frame.seq,
      ending: undefined,
      decision: undefined,
      place: undefined,
      lockWait: undefined,
      asked: undefined,
      detached: undefined,
      failures: [],
      results: [],
    },
    frame,
  )
  run.calls.push(call)
  run.byId.set(id, call)
  run.byActor.set(actor, call)
  if (stage === 'executing') run.executing.add(id)
  listener.onCall?.(call, frame, run)
}

function foldSchedule<Run extends RunState>(run: Run, frame: FrameOf<'schedule'>, listener: RunListener<Run>): void {
  run.isPicture = false
  for (const [id, stage, lane] of frame.stages ?? []) {
    const call = run.byId.get(id)
    if (call === undefined || (call.stage === stage && call.lane === lane)) continue
    const before = call.stage
    call.stage = stage
    call.lane = lane
    if (stage === 'executing') run.executing.add(id)
    else run.executing.delete(id)
    listener.onStage?.(call, before, frame, run)
  }
  if (frame.cursor !== undefined) run.cursor = frame.cursor
  if (frame.waits === undefined) return
  run.waits = frame.waits
  listener.onWaits?.(frame, run)
}
