import type { ChartDefinition, CursorState, Frame, SaidFrame } from '../../inspect/index.ts'
import type { CallView } from './call-view.ts'
import { innermostState } from './innermost-state.ts'
import { nameOf } from './name-of.ts'
import { addOutput, printedBy } from './partial-output.ts'

/** Words between the calls: of the user, of the model as they come, or of the program itself. */
export interface SaidView {
  readonly kind: 'said'
  readonly by: SaidFrame['by'] | 'warning'
  text: string
  /** Nothing more will be added. */
  isWhole: boolean
}

export type SessionItem = SaidView | CallView

interface ActorView {
  readonly chart: string
  readonly active: readonly number[]
}

interface RunView {
  readonly calls: CallView[]
  waiting: CallView[]
  readonly byId: Map<string, CallView>
  readonly callOf: Map<string, CallView>
  readonly charts: Map<string, ChartDefinition>
  readonly actors: Map<string, ActorView>
  cursor: CursorState
  /** The call whose failure stops the others. */
  failed: CallView | undefined
}

type Of<Type extends Frame['type']> = Extract<Frame, { type: Type }>

/**
 * What is drawn, live or from a recording: everything said and called, in order. It comes from frames and from nowhere
 * else, and may come from anybody: what does not fit is passed over.
 */
export class SessionView {
  readonly items: SessionItem[] = []
  /** The calls that wait for a word of the host's. */
  questions: readonly { readonly call: string; readonly run: number }[] = []
  /** Of the last frame, in milliseconds. */
  at = 0
  readonly #runs = new Map<number, RunView>()
  #calls = 0

  take(frame: Frame): void {
    this.at = Math.max(this.at, frame.at)
    if (frame.type === 'said') return this.#say(frame.by, frame.text)
    if (frame.type === 'gap' && frame.because !== 'recorder') {
      return this.#note('warning', `Something is missing here: ${frame.lost} lost (${frame.because}).`)
    }
    if (frame.type === 'run') return this.#begin(frame)
    const run = this.#runs.get(frame.run)
    if (run !== undefined) this.#takeInto(run, frame)
  }

  find(call: string, run?: number): CallView | undefined {
    if (run !== undefined) return this.#runs.get(run)?.byId.get(call)
    return [...this.#runs.values()].findLast(({ byId }) => byId.has(call))?.byId.get(call)
  }

  /** Whom the result of a finished call waits for. */
  heldFor({ run, id }: CallView): CallView | undefined {
    const found = this.#runs.get(run)
    const { waitsFor } = found?.cursor ?? { waitsFor: null }
    return waitsFor === null || waitsFor === id ? undefined : found?.byId.get(waitsFor)
  }

  /** All that was said so far is whole. */
  endSaying(): void {
    const last = this.items.at(-1)
    if (last?.kind === 'said') last.isWhole = true
  }

  #say(by: SaidView['by'], text: string): void {
    const last = this.items.at(-1)
    if (last?.kind === 'said' && last.by === by && !last.isWhole && by !== 'host') last.text += text
    else this.#note(by, text, by === 'host' || by === 'user')
  }

  #note(by: SaidView['by'], text: string, isWhole = true): void {
    this.endSaying()
    this.items.push({ kind: 'said', by, text, isWhole })
  }

  #begin({ run }: Of<'run'>): void {
    this.endSaying()
    if (this.#runs.has(run)) return
    this.#runs.set(run, {
      calls: [],
      waiting: [],
      byId: new Map(),
      callOf: new Map(),
      charts: new Map(),
      actors: new Map(),
      cursor: { next: 0, settled: 0, waitsFor: null },
      failed: undefined,
    })
  }

  #takeInto(run: RunView, frame: Frame): void {
    if (frame.type === 'call') return this.#meet(run, frame)
    if (frame.type === 'chart') return void run.charts.set(frame.chart.id, frame.chart)
    if (frame.type === 'actor') return this.#enter(run, frame.actor, frame.active, frame.chart)
    if (frame.type === 'step') return frame.active && this.#enter(run, frame.actor, frame.active)
    if (frame.type === 'books') return keepBooks(run, frame)
    if (frame.type === 'questions') {
      this.questions = frame.open.map(({ call }) => ({ call, run: frame.run }))
      return
    }
    if (frame.type === 'warning') return this.#note('warning', frame.message)
    if (frame.type === 'left') return leave(run)
    const call = 'call' in frame && frame.call !== null ? run.byId.get(frame.call) : undefined
    if (frame.type === 'abort') return heedAbort(run, call, frame)
    if (call !== undefined) tellCall(call, frame)
  }

  #meet(run: RunView, { call: id, index, name, label, input, lane, stage, actor, at, run: number }: Of<'call'>): void {
    const known = run.byId.get(id)
    if (known !== undefined) return void Object.assign(known, { name, label, input })
    // a recording can say anything
    if (index !== run.calls.length) return
    this.endSaying()
    const call: CallView = {
      kind: 'call',
      run: number,
      id,
      index,
      number: ++this.#calls,
      name,
      label,
      input,
      lane,
      stage,
      state: '',
      actor,
      ranAt: undefined,
      addedAt: at,
      startedAt: stage === 'executing' ? at : undefined,
      completedAt: undefined,
      wait: undefined,
      output: { text: '', lines: 0 },
      progress: undefined,
      result: undefined,
      ending: undefined,
      stoppedBy: undefined,
      isDiscarded: false,
    }
    run.calls.push(call)
    run.byId.set(id, call)
    run.callOf.set(actor, call)
    const owner = run.actors.get(actor)
    if (owner !== undefined) setState(call, run, owner, at)
    this.items.push(call)
  }

  #enter(run: RunView, id: string, active: readonly number[], chart = run.actors.get(id)?.chart): void {
    if (chart === undefined) return
    run.actors.set(id, { chart, active })
    const call = run.callOf.get(id)
    if (call !== undefined) setState(call, run, { chart, active }, this.at)
  }
}

function setState(call: CallView, { charts }: RunView, { chart, active }: ActorView, at: number): void {
  call.state = innermostState(charts.get(chart), active)
  if (call.state === 'calling') call.ranAt ??= at
}

function keepBooks(run: RunView, { stages, cursor, waits, at }: Of<'books'>): void {
  for (const [id, stage, lane] of stages ?? []) {
    const call = run.byId.get(id)
    if (call === undefined) continue
    if (stage === 'executing') call.startedAt ??= at
    if (stage === 'completed') call.completedAt ??= at
    Object.assign(call, { stage, lane })
  }
  if (cursor !== undefined) run.cursor = cursor
  if (waits === undefined) return
  for (const call of run.waiting) call.wait = undefined
  run.waiting = []
  for (const { because, blockers, calls } of waits) {
    for (const [from, to] of calls) {
      for (let index = from; index <= to && index < run.calls.length; index++) {
        const call = run.calls[index]
        if (call === undefined) continue
        call.wait = { because, blockers }
        run.waiting.push(call)
      }
    }
  }
}

/** Nobody will tell of these any more: where the run was given up for another, they are gone with it. */
function leave(run: RunView): void {
  for (const call of run.calls) if (call.result === undefined) call.isDiscarded = true
}

function heedAbort(run: RunView, call: CallView | undefined, { layer, cause }: Of<'abort'>): void {
  if (call === undefined || cause.kind !== 'sibling_error') return
  if (layer === 'executor') run.failed = call
  else call.stoppedBy = run.failed === undefined ? cause.description : nameOf(run.failed)
}

function tellCall(call: CallView, frame: Frame): void {
  if (frame.type === 'progress') {
    const text = printedBy(frame.data)
    if (text === undefined) call.progress = frame.data
    else call.output = addOutput(call.output, text)
  } else if (frame.type === 'result' && frame.message === 'tool_result') {
    call.result ??= { content: frame.content, isError: frame.isError }
    call.completedAt ??= frame.at
  } else if (frame.type === 'ending') call.ending = { by: frame.by, kind: frame.kind, reached: frame.reached }
}
