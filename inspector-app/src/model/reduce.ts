import { applyPatch, type Frame, isDiscarded } from '../../../src/inspect/index.ts'
import { checkExecuting, checkResult, checkYield } from './invariants.ts'
import { type Actor, type Call, type Cast, emptyModel, type Model, type Run, type Server } from './model.ts'
import { pathOf } from './state-path.ts'

/** How many of an actor's looks and changes are kept. */
const maxEntries = 40

/** The picture after the frames. */
export function reduce(frames: Iterable<Frame>, from: Model = emptyModel()): Model {
  for (const frame of frames) applyFrame(from, frame)
  return from
}

/** Changes the model in place: at twenty thousand frames a second there is no time for copies. */
export function applyFrame(model: Model, frame: Frame): void {
  model.seq = frame.seq
  model.at = Math.max(model.at, frame.at)
  if (frame.type === 'head') model.epoch = frame.epoch
  else if (frame.type === 'gap') model.gaps.push({ seq: frame.seq, because: frame.because, lost: frame.lost })
  else if (frame.type === 'run') {
    model.runs.set(frame.run, newRun(frame))
    model.latestRun = Math.max(model.latestRun, frame.run)
  } else if (frame.type === 'server') {
    model.servers.set(frame.run, newServer(frame))
  } else {
    const run = model.runs.get(frame.run)
    const server = model.servers.get(frame.run)
    if (run !== undefined) applyToRun(run, frame)
    else if (server !== undefined) applyToServer(server, frame)
  }
}

const touchesCalls: ReadonlySet<Frame['type']> = new Set(['call', 'books', 'result', 'ending', 'abort'])

type RunPart = Exclude<Frame, { type: 'head' | 'gap' | 'run' | 'server' }>

function applyToRun(run: Run, frame: RunPart): void {
  if (touchesCalls.has(frame.type)) run.version++
  switch (frame.type) {
    case 'actor':
      // others without a parent stand around it, such as a query's
      if (frame.parent === null && frame.actor !== run.root) run.around = frame.actor
      addActor(run, frame)
      return heedDiscard(run, frame.at)
    case 'step':
      return stepOfRun(run, frame)
    case 'chart':
    case 'guards':
    case 'left':
      return applyToCast(run, frame)
    case 'call':
      return addCall(run, frame)
    case 'books':
      return keepBooks(run, frame)
    case 'abort':
      return abort(run, frame)
    case 'ending': {
      const call = run.byId.get(frame.call)
      if (call !== undefined) call.ending = { by: frame.by, kind: frame.kind, reached: frame.reached }
      return
    }
    case 'progress': {
      const call = run.byId.get(frame.call)
      if (call !== undefined) call.progress = { count: frame.count, data: frame.data }
      return
    }
    case 'result':
      return takeResult(run, frame)
    case 'questions':
      run.questions = frame.open
      return
    case 'can':
      run.can = frame.commands
      return
    case 'warning':
      return keepNewest(run.warnings, { ...frame, seq: frame.seq, at: frame.at })
    case 'event':
    case 'breach':
    case 'said':
    case 'waiting':
      return
  }
}

function applyToServer(server: Server, frame: RunPart): void {
  if (frame.type !== 'waiting') return applyToCast(server, frame)
  if (frame.isWaiting) server.waiting.set(frame.call, server.waiting.get(frame.call) ?? frame.at)
  else server.waiting.delete(frame.call)
}

function applyToCast(cast: Cast, frame: RunPart): void {
  if (frame.type === 'chart') cast.charts.set(frame.chart.id, frame.chart)
  else if (frame.type === 'actor') addActor(cast, frame)
  else if (frame.type === 'step') step(cast, frame)
  else if (frame.type === 'guards') look(cast, frame)
  else if (frame.type === 'left') cast.isWatched = false
}

type Of<Type extends Frame['type']> = Extract<Frame, { type: Type }>

function newRun({ run, title, isLate, maxConcurrency, root, inside, at }: Of<'run'>): Run {
  return {
    id: run,
    title,
    inside,
    isLate,
    isWatched: true,
    maxConcurrency,
    startedAt: at,
    charts: new Map(),
    actors: new Map(),
    root,
    around: undefined,
    calls: [],
    byId: new Map(),
    waiting: [],
    executing: new Set(),
    cursor: { next: 0, settled: 0, waitsFor: null },
    aborts: [],
    questions: [],
    can: [],
    warnings: [],
    breaches: [],
    yielded: 0,
    isDiscarded: false,
    heat: new Map(),
    version: 0,
  }
}

function newServer({ run, name, root, at }: Of<'server'>): Server {
  return {
    id: run,
    name,
    isWatched: true,
    startedAt: at,
    charts: new Map(),
    actors: new Map(),
    root,
    heat: new Map(),
    waiting: new Map(),
  }
}

function addActor(cast: Cast, { actor: id, chart, parent, active, context }: Of<'actor'>): void {
  cast.actors.set(id, {
    id,
    chart,
    parent,
    call: undefined,
    active,
    isDone: false,
    context,
    changes: [],
    ledger: [],
    taken: new Map(),
    last: undefined,
  })
}

function stepOfRun(run: Run, frame: Of<'step'>): void {
  step(run, frame)
  const actor = run.actors.get(frame.actor)
  const call = actor?.call === undefined ? undefined : run.byId.get(actor.call)
  if (actor !== undefined && call !== undefined && frame.active !== undefined) enter(run, call, actor, frame.at)
  if (frame.actor === run.root && frame.active !== undefined) heedDiscard(run, frame.at)
}

/** From here on nothing leaves this run, whatever its calls still do. */
function heedDiscard(run: Run, at: number): void {
  const root = run.actors.get(run.root)
  if (run.isDiscarded || !isDiscarded(run.charts.get(root?.chart ?? ''), root?.active ?? [])) return
  run.isDiscarded = true
  for (const call of run.calls) giveUp(run, call, at)
}

function giveUp(run: Run, call: Call, at: number): void {
  if (call.stage === 'yielded') return
  call.isGivenUp = true
  const actor = run.actors.get(call.actor)
  if (actor !== undefined) enter(run, call, actor, at)
}

function step(cast: Cast, { actor: id, seq, at, event, transitions, active, context, isDone }: Of<'step'>): void {
  const actor = cast.actors.get(id)
  if (actor === undefined) return
  actor.last = { seq, at, event, transitions }
  for (const id of transitions) actor.taken.set(id, (actor.taken.get(id) ?? 0) + 1)
  warm(cast, actor.chart, transitions)
  if (context !== undefined) {
    const before = actor.context
    actor.context = applyPatch(before, context)
    keepNewest(actor.changes, { seq, at, patch: context, before })
  }
  if (isDone === true) actor.isDone = true
  if (active !== undefined) actor.active = active
}

function warm(cast: Cast, chart: string, transitions: readonly number[]): void {
  const counts = cast.heat.get(chart) ?? (cast.charts.get(chart)?.transitions ?? []).map(() => 0)
  cast.heat.set(chart, counts)
  // a recording can say anything: only what the chart has is counted
  for (const id of transitions) if (counts[id] !== undefined) counts[id]++
}

/** A new stretch of the call's life begins. */
function enter(run: Run, call: Call, actor: Actor, at: number): void {
  const states = pathOf(run.charts.get(actor.chart), actor.active)
  const path = call.isGivenUp && states[0] === 'completed' ? ['givenUp'] : states
  const last = call.segments.at(-1)
  if (last !== undefined && last.path.join() === path.join()) return
  if (last !== undefined) last.to = at
  call.segments.push({ path, from: at, to: undefined })
}

function look(cast: Cast, { actor: id, seq, at, event, candidates }: Of<'guards'>): void {
  const actor = cast.actors.get(id)
  if (actor !== undefined) keepNewest(actor.ledger, { seq, at, event, candidates })
}

function addCall(run: Run, frame: Of<'call'>): void {
  const { call: id, index, name, label, input, lane, stage, stopsAtInterrupt, actor, at } = frame
  const known = run.byId.get(id)
  if (known !== undefined) return void Object.assign(known, { name, label, input, stopsAtInterrupt })
  // a recording can say anything; places that leave holes would be a list without end
  if (index > run.calls.length) return
  const call: Call = {
    id,
    index,
    name,
    label,
    input,
    lane,
    stage,
    stopsAtInterrupt,
    actor,
    addedAt: at,
    startedAt: stage === 'executing' ? at : undefined,
    completedAt: stage === 'completed' ? at : undefined,
    yieldedAt: stage === 'yielded' ? at : undefined,
    wait: undefined,
    segments: [],
    progress: undefined,
    results: [],
    isGivenUp: false,
    ending: undefined,
    abort: undefined,
  }
  run.calls[index] = call
  run.byId.set(id, call)
  if (stage === 'executing') run.executing.add(id)
  if (stage === 'yielded') run.yielded++
  const owner = run.actors.get(actor)
  if (owner === undefined) return
  owner.call = id
  if (run.isDiscarded) giveUp(run, call, at)
  else enter(run, call, owner, at)
}

function keepBooks(run: Run, { stages, cursor, waits, seq, at }: Of<'books'>): void {
  for (const [id, stage, lane] of stages ?? []) {
    const call = run.byId.get(id)
    if (call === undefined) continue
    call.lane = lane
    if (call.stage === stage) continue
    call.stage = stage
    if (stage === 'executing') {
      call.startedAt ??= at
      run.executing.add(id)
      checkExecuting(run, seq, at)
    } else run.executing.delete(id)
    if (stage === 'completed') call.completedAt = at
    if (stage === 'yielded') {
      call.yieldedAt = at
      checkYield(run, call, seq, at)
    }
  }
  if (cursor !== undefined) run.cursor = cursor
  if (waits !== undefined) keepWaits(run, waits, at)
}

function keepWaits(run: Run, groups: NonNullable<Of<'books'>['waits']>, at: number): void {
  const before = run.waiting
  const waiting: Call[] = []
  for (const { because, blockers, calls } of groups) {
    for (const [from, to] of calls) {
      for (let index = from; index <= to && index < run.calls.length; index++) {
        const call = run.calls[index]
        if (call === undefined) continue
        waiting.push(call)
        const since = call.wait?.because === because ? call.wait.since : at
        call.wait = { because, blockers, since }
      }
    }
  }
  const still = new Set(waiting)
  for (const call of before) if (!still.has(call)) call.wait = undefined
  run.waiting = waiting.sort((a, b) => a.index - b.index)
}

function abort(run: Run, { layer, call: id, from, event, cause, seq, at }: Of<'abort'>): void {
  if (layer === 'executor') {
    run.aborts.push({ seq, at, layer, from, by: id, event, cause, reached: [] })
    return
  }
  const call = id === null ? undefined : run.byId.get(id)
  if (call === undefined) return
  call.abort = { at, event, cause }
  const source = from === 'executor' ? run.aborts.findLast((each) => each.cause.kind === cause.kind) : undefined
  if (source !== undefined) source.reached.push({ seq, at, call: call.id, event })
  else
    run.aborts.push({ seq, at, layer, from, by: call.id, event, cause, reached: [{ seq, at, call: call.id, event }] })
}

function takeResult(run: Run, { call: id, message, isError, content, seq, at }: Of<'result'>): void {
  const call = run.byId.get(id)
  if (call === undefined) return
  call.results.push({ seq, at, message, isError, content })
  if (message === 'tool_result') checkResult(run, call, seq, at)
}

function keepNewest<Entry>(entries: Entry[], entry: Entry): void {
  entries.push(entry)
  if (entries.length > maxEntries) entries.shift()
}
