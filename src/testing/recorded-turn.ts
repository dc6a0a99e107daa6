import type { Admission, Ending } from '../../machines/index.ts'
import type { Frame, FrameOf, WaitGroup } from '../inspect/frames/frame.ts'
import { activeStates } from '../inspect/run-model/active-states.ts'
import { foldRun } from '../inspect/run-model/fold-frame.ts'
import type { RunListener } from '../inspect/run-model/run-listener.ts'
import { type ActorState, type CallState, newRunState, type RunState } from '../inspect/run-model/run-state.ts'
import { eachWaiting } from '../inspect/run-model/why-waiting.ts'
import { createToolResultMessage } from '../messages/create-messages.ts'
import type { ContentBlock } from '../messages/message.ts'
import { EvidenceBook } from './evidence-book.ts'
import type { CallEvidence, RunState as GateState } from './turn-evidence.ts'

/** One run of a recording, as evidence. */
export class RecordedTurn {
  readonly book: EvidenceBook
  readonly #run: RunState
  /** The states of actors whose call is not known yet. */
  readonly #early = new Map<string, string[]>()
  readonly #listener: RunListener = {
    newActor: (state) => state,
    newCall: (state) => state,
    onActor: (actor) => this.#moved(actor),
    onStep: (actor, { active }) => (active === undefined ? undefined : this.#moved(actor)),
    onCall: (call) => this.#meet(call),
    onStage: (call) => this.#withEvidence(call, (seen) => this.book.moved(seen, seen.phase, recordOf(call))),
    onWaits: (_, run) => this.book.explained(waitsIn(run)),
    onAbort: (call, { layer, event }) => {
      if (layer === 'call' && event === 'call.abort') this.#withEvidence(call, (seen) => this.book.told(seen))
    },
    onEnding: (call, frame) => this.#withEvidence(call, (seen) => Object.assign(seen, { ending: endingOf(frame) })),
    onProgress: (call) => this.#withEvidence(call, (seen) => this.book.readProgress(seen, 0)),
  }

  constructor(frame: FrameOf<'run'>) {
    this.#run = newRunState(frame)
    this.book = new EvidenceBook(frame.maxConcurrency ?? Number.POSITIVE_INFINITY)
  }

  see(frame: Frame): void {
    foldRun(this.#run, frame, this.#listener)
    // a result for an unknown call is a breach, so record it too
    if (frame.type === 'result' && frame.message === 'tool_result') this.book.read(messageOf(frame))
    if (frame.type !== 'event') return
    this.#withEvidence(this.#run.byActor.get(frame.to), (seen) => {
      if (frame.event === 'permission.denied') this.book.denied(seen)
      if (frame.event === 'call.timedOut') seen.hasTimedOut = true
    })
  }

  #meet(call: CallState): void {
    const { isPicture } = this.#run
    // results that were read before recording began are unknown
    if (isPicture && call.stage === 'yielded') return
    const seen = this.book.announced(recordOf(call))
    for (const path of this.#early.get(call.actor) ?? []) this.book.moved(seen, path, recordOf(call))
    this.#early.delete(call.actor)
    if (isPicture) this.book.wasBefore(call.id)
  }

  #moved({ id, chart: chartId, active }: ActorState): void {
    const chart = this.#run.charts.get(chartId)
    if (chart === undefined) return
    const { paths } = activeStates(chart, active)
    if (id === this.#run.root) {
      const stateIn = (region: string) => paths.find((path) => path.startsWith(`${region}.`))?.slice(region.length + 1)
      return this.book.executorMoved(stateIn('gate') ?? 'open', (stateIn('run') ?? 'clear') as GateState)
    }
    const path = paths[0] ?? ''
    const call = this.#run.byActor.get(id)
    if (call !== undefined) return this.#withEvidence(call, (seen) => this.book.moved(seen, path, recordOf(call)))
    const early = this.#early.get(id)
    if (early === undefined) this.#early.set(id, [path])
    else early.push(path)
  }

  #withEvidence(call: CallState | undefined, then: (seen: CallEvidence) => void): void {
    const seen = call && this.book.find(call.id)
    if (seen !== undefined) then(seen)
  }
}

const recordOf = ({ id, name, index, stopsAtInterrupt, lane, keys, stage }: CallState) => ({
  id,
  name,
  index,
  yieldsToInterrupt: stopsAtInterrupt,
  isSafe: lane === 'shared',
  keys,
  stage,
})

/** Why each call waits, by id. Calls that wait for the same reason share one object. */
function waitsIn(run: RunState): Map<string, Admission> {
  const waits = new Map<string, Admission>()
  const shared = new Map<WaitGroup, Admission>()
  eachWaiting(run, ({ id }, group) => {
    const admission = shared.get(group) ?? { ok: false, because: group.because, blockers: group.blockers }
    shared.set(group, admission)
    waits.set(id, admission)
  })
  return waits
}

function endingOf({ by, kind, reached }: FrameOf<'ending'>): Ending {
  if (by !== 'abort' || kind === null) return { by: by === 'answer' ? 'answer' : 'result' }
  return { by, cause: { kind, reason: undefined }, reached: (reached ?? 'underWay') as 'underWay' }
}

const messageOf = ({ call, isError, content }: FrameOf<'result'>) =>
  createToolResultMessage(
    {
      type: 'tool_result',
      tool_use_id: call,
      content: typeof content === 'string' ? content : (JSON.stringify(content) as string | ContentBlock[]),
      ...(isError && { is_error: true }),
    },
    { sourceToolAssistantUUID: 'recorded' },
  )
