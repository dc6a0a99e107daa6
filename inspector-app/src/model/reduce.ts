import {
  type ActorState,
  activeStates,
  applyPatch,
  eachWaiting,
  type Frame,
  type FrameOf,
  foldFrame,
  type ModelListener,
} from '../../../src/inspect/index.ts'
import { plainText } from '../plain-text.ts'
import { checkExecuting, checkResult, checkYield } from './invariants.ts'
import { type Actor, type Call, type Cast, emptyModel, type Model, type Run, type Server } from './model.ts'

/** How many guard entries and context changes are kept per actor. */
const maxEntries = 40
const maxRefusals = 200
/** How many reasons to wait are kept per call. */
const maxWaits = 20

/** The model after the frames. */
export function reduce(frames: Iterable<Frame>, from: Model = emptyModel()): Model {
  for (const frame of frames) applyFrame(from, frame)
  return from
}

const touchesTalk: ReadonlySet<Frame['type']> = new Set(['said', 'reply', 'questions', 'decision', 'attempt', 'left'])
const touchesCalls: ReadonlySet<Frame['type']> = new Set(['call', 'schedule', 'locks', 'result', 'ending', 'abort'])

/** Mutates the model: at twenty thousand frames per second, copies are too slow. */
export function applyFrame(model: Model, frame: Frame): void {
  foldFrame(model, readable(frame), page)
  if (frame.type === 'guards') {
    look(model.runs.get(frame.run) ?? model.servers.get(frame.run), frame)
    noteRefusal(model.runs.get(frame.run), frame)
  } else if (frame.type === 'warning') keepNewest(model.runs.get(frame.run)?.warnings ?? [], frame)
  else if (touchesCalls.has(frame.type)) {
    const run = model.runs.get(frame.run)
    if (run !== undefined) run.version++
  } else if (frame.type === 'background') {
    // it may belong to an earlier turn
    for (const run of model.runs.values()) if (run.byId.has(frame.call)) run.talk++
  } else if (touchesTalk.has(frame.type)) {
    const run = model.runs.get(frame.run)
    if (run !== undefined) run.talk++
  }
}

/** Names and texts as they are shown. A saved recording has the original ones. */
function readable(frame: Frame): Frame {
  switch (frame.type) {
    case 'call':
      return { ...frame, name: plainText(frame.name), label: plainText(frame.label) }
    case 'background':
      return { ...frame, name: plainText(frame.name), label: plainText(frame.label) }
    case 'run':
      return { ...frame, title: plainText(frame.title) }
    case 'server':
      return { ...frame, name: plainText(frame.name) }
    case 'said':
      return { ...frame, text: plainText(frame.text) }
    default:
      return frame
  }
}

/** The page's own fields: times, contexts, guard results, aborts, and breaches. */
const page: ModelListener<Run, Server> = {
  newRun: (state, { at }) => ({
    ...state,
    ...newCast(at),
    waiting: [],
    aborts: [],
    warnings: [],
    breaches: [],
    refusals: [],
    refused: 0,
    yielded: 0,
    leftAt: undefined,
    version: 0,
    talk: 0,
  }),
  newServer: (state, { at }) => ({ ...state, ...newCast(at) }),
  server: { newActor, onStep: noteStep },
  run: {
    newActor,
    onLeft({ at }, run) {
      run.leftAt = at
    },
    onStep(actor, frame, run) {
      noteStep(actor, frame, run)
      const call = frame.active === undefined ? undefined : run.byActor.get(actor.id)
      if (call !== undefined) enter(run, call, frame.at)
    },
    newCall: (state, { stage, at }) =>
      Object.assign(state, {
        addedAt: at,
        startedAt: stage === 'executing' ? at : undefined,
        completedAt: stage === 'completed' ? at : undefined,
        yieldedAt: stage === 'yielded' ? at : undefined,
        wait: undefined,
        waited: [],
        segments: [],
        progress: undefined,
        isGivenUp: false,
        abort: undefined,
      }),
    onCall(call, { at }, run) {
      if (call.stage === 'yielded') run.yielded++
      if (run.isDiscarded) giveUp(run, call, at)
      else enter(run, call, at)
    },
    onStage(call, before, { seq, at }, run) {
      const { stage } = call
      if (stage === before) return
      if (stage === 'executing') {
        call.startedAt ??= at
        checkExecuting(run, seq, at)
      }
      if (stage === 'completed') call.completedAt = at
      if (stage === 'yielded') {
        call.yieldedAt = at
        checkYield(run, call, seq, at)
      }
    },
    onWaits: keepWaits,
    // from now on no result of this run is handed over
    onDiscarded({ at }, run) {
      for (const call of run.calls) giveUp(run, call, at)
    },
    onAbort: abort,
    onProgress(call, { count, data }) {
      call.progress = { count, data }
    },
    onResult(call, { message, seq, at }, run) {
      if (message === 'tool_result') checkResult(run, call, seq, at)
    },
  },
}

const newCast = (at: number) => ({ startedAt: at, heat: new Map<string, number[]>() })

function newActor(state: ActorState, { context }: FrameOf<'actor'>): Actor {
  return Object.assign(state, { context, changes: [], ledger: [], taken: new Map(), last: undefined })
}

function noteStep(actor: Actor, { seq, at, event, transitions, context }: FrameOf<'step'>, cast: Cast): void {
  actor.last = { seq, at, event, transitions }
  for (const id of transitions) actor.taken.set(id, (actor.taken.get(id) ?? 0) + 1)
  warm(cast, actor.chart, transitions)
  if (context === undefined) return
  const before = actor.context
  actor.context = applyPatch(before, context)
  keepNewest(actor.changes, { seq, at, patch: context, before })
}

function warm(cast: Cast, chart: string, transitions: readonly number[]): void {
  const counts = cast.heat.get(chart) ?? (cast.charts.get(chart)?.transitions ?? []).map(() => 0)
  cast.heat.set(chart, counts)
  // recordings are untrusted: count only transitions of the chart
  for (const id of transitions) if (counts[id] !== undefined) counts[id]++
}

function giveUp(run: Run, call: Call, at: number): void {
  if (call.stage === 'yielded') return
  call.isGivenUp = true
  enter(run, call, at)
}

/** Begins a new segment of the call. */
function enter(run: Run, call: Call, at: number): void {
  const actor = run.actors.get(call.actor)
  if (actor === undefined) return
  const { names } = activeStates(run.charts.get(actor.chart), actor.active)
  const path = call.isGivenUp && names[0] === 'completed' ? ['givenUp'] : withoutUsual(names)
  const last = call.segments.at(-1)
  if (last !== undefined && last.path.join() === path.join()) return
  if (last !== undefined) last.to = at
  call.segments.push({ path, from: at, to: undefined })
}

function look(cast: Cast | undefined, { actor: id, seq, at, event, candidates, refusal }: FrameOf<'guards'>): void {
  const actor = cast?.actors.get(id)
  if (actor !== undefined) keepNewest(actor.ledger, { seq, at, event, candidates, refusal })
}

/** The same call is refused again whenever another call ends: what stays the same is listed once. */
function noteRefusal(run: Run | undefined, { actor, seq, at, event, candidates, refusal }: FrameOf<'guards'>): void {
  if (run === undefined || refusal === undefined) return
  const before = run.refusals.at(-1)?.refusal
  const isSame =
    before?.call === refusal.call &&
    before.because === refusal.because &&
    before.key === refusal.key &&
    before.blockers.join() === refusal.blockers.join()
  if (isSame) return
  run.refused++
  keepNewest(run.refusals, { actor, seq, at, event, candidates, refusal }, maxRefusals)
}

/** Notes since when each call waits for its reason, and until when it did. */
function keepWaits({ at }: FrameOf<'schedule'>, run: Run): void {
  const waiting: Call[] = []
  eachWaiting(run, (call, { because, blockers, key }) => {
    waiting.push(call)
    const { wait } = call
    if (wait?.because === because && wait.key === key) wait.blockers = blockers
    else {
      if (wait !== undefined) wait.until = at
      call.wait = { because, blockers, ...(key !== undefined && { key }), since: at, until: undefined }
      keepNewest(call.waited, call.wait, maxWaits)
    }
  })
  waiting.sort((a, b) => a.index - b.index)
  let next = 0
  // both lists are in order
  for (const call of run.waiting) {
    while ((waiting[next]?.index ?? call.index) < call.index) next++
    if (waiting[next] === call || call.wait === undefined) continue
    call.wait.until = at
    call.wait = undefined
  }
  run.waiting = waiting
}

function abort(call: Call | undefined, { layer, from, event, cause, call: by, seq, at }: FrameOf<'abort'>, run: Run) {
  if (layer === 'executor') {
    run.aborts.push({ seq, at, layer, from, by, event, cause, reached: [] })
    return
  }
  if (call === undefined) return
  call.abort = { at, event, cause }
  const source = from === 'executor' ? run.aborts.findLast((each) => each.cause.kind === cause.kind) : undefined
  if (source !== undefined) source.reached.push({ seq, at, call: call.id, event })
  else
    run.aborts.push({ seq, at, layer, from, by: call.id, event, cause, reached: [{ seq, at, call: call.id, event }] })
}

function keepNewest<Entry>(entries: Entry[], entry: Entry, most = maxEntries): void {
  entries.push(entry)
  if (entries.length > most) entries.shift()
}

/**
 * Without a journal every result is durable at once, and without a runner every body runs here: these states are not shown
 * as phases.
 */
const withoutUsual = (names: readonly string[]): readonly string[] =>
  (names[0] === 'completed' && names[1] === 'durable') || (names[1] === 'calling' && names[2] === 'here')
    ? names.slice(0, -1)
    : names
