import { type ChartDefinition, type CursorState, type Frame, isDiscarded } from '../../inspect/index.ts'
import type { CallView } from './call-view.ts'
import { innermostState } from './innermost-state.ts'
import { nameOf } from './name-of.ts'
import { addOutput, printedBy } from './partial-output.ts'

type Of<Type extends Frame['type']> = Extract<Frame, { type: Type }>

interface ActorView {
  readonly chart: string
  readonly active: readonly number[]
}

/** The calls of one executor, as far as the frames tell of them. */
export class RunView {
  readonly #calls: CallView[] = []
  readonly #byId = new Map<string, CallView>()
  readonly #byActor = new Map<string, CallView>()
  readonly #charts = new Map<string, ChartDefinition>()
  readonly #actors = new Map<string, ActorView>()
  #waiting: CallView[] = []
  #isDiscarded = false
  #cursor: CursorState = { next: 0, settled: 0, waitsFor: null }
  /** The call whose failure stops the others. */
  #failed: CallView | undefined

  find(id: string | null): CallView | undefined {
    return id === null ? undefined : this.#byId.get(id)
  }

  /** Whom the cursor waits for. */
  get next(): CallView | undefined {
    return this.find(this.#cursor.waitsFor)
  }

  /** The call, where it is new. */
  meet(frame: Of<'call'>, number: number): CallView | undefined {
    const { call: id, index, name, label, input, lane, stage, actor, run, at } = frame
    const known = this.#byId.get(id)
    if (known !== undefined) return void Object.assign(known, { name, label, input })
    // a recording can say anything
    if (index !== this.#calls.length) return undefined
    const call: CallView = {
      kind: 'call',
      run,
      id,
      number,
      name,
      label,
      input,
      lane,
      stage,
      state: '',
      ranAt: undefined,
      completedAt: undefined,
      wait: undefined,
      output: { text: '', lines: 0 },
      progress: undefined,
      result: undefined,
      ending: undefined,
      stoppedBy: undefined,
      isDiscarded: this.#isDiscarded,
    }
    this.#calls.push(call)
    this.#byId.set(id, call)
    this.#byActor.set(actor, call)
    this.#setState(call, this.#actors.get(actor), at)
    return call
  }

  take(frame: Frame): void {
    if (frame.type === 'chart') this.#charts.set(frame.chart.id, frame.chart)
    else if (frame.type === 'actor') this.#enter(frame.actor, frame, frame.at)
    else if (frame.type === 'step') this.#step(frame)
    else if (frame.type === 'books') this.#keepBooks(frame)
    else if (frame.type === 'left') this.#giveUp()
    else if (frame.type === 'abort') this.#abort(frame)
    else if (frame.type === 'progress') this.#progress(frame)
    else if (frame.type === 'result') this.#result(frame)
    else if (frame.type === 'ending') {
      const call = this.find(frame.call)
      if (call !== undefined) call.ending = { by: frame.by, kind: frame.kind, reached: frame.reached }
    }
  }

  #step({ actor, active, at }: Of<'step'>): void {
    const known = this.#actors.get(actor)
    if (known !== undefined && active !== undefined) this.#enter(actor, { chart: known.chart, active }, at)
  }

  #enter(actor: string, { chart, active }: ActorView, at: number): void {
    this.#actors.set(actor, { chart, active })
    if (isDiscarded(this.#charts.get(chart), active)) this.#giveUp()
    this.#setState(this.#byActor.get(actor), { chart, active }, at)
  }

  #setState(call: CallView | undefined, actor: ActorView | undefined, at: number): void {
    if (call === undefined || actor === undefined) return
    call.state = innermostState(this.#charts.get(actor.chart), actor.active)
    if (call.state === 'calling') call.ranAt ??= at
  }

  #keepBooks({ stages, cursor, waits, at }: Of<'books'>): void {
    for (const [id, stage, lane] of stages ?? []) {
      const call = this.find(id)
      if (call === undefined) continue
      if (stage === 'completed') call.completedAt ??= at
      Object.assign(call, { stage, lane })
    }
    if (cursor !== undefined) this.#cursor = cursor
    if (waits === undefined) return
    for (const call of this.#waiting) call.wait = undefined
    this.#waiting = waits.flatMap(({ because, blockers, calls }) => {
      const waiting = calls.flatMap(([from, to]) => this.#calls.slice(from, to + 1))
      for (const call of waiting) call.wait = { because, blockers }
      return waiting
    })
  }

  /** The run was discarded, or nobody tells of it any more: what has not left it is gone with it. */
  #giveUp(): void {
    this.#isDiscarded = true
    for (const call of this.#calls) if (call.result === undefined) call.isDiscarded = true
  }

  #abort({ layer, call: id, cause }: Of<'abort'>): void {
    const call = this.find(id)
    if (call === undefined || cause.kind !== 'sibling_error') return
    if (layer === 'executor') this.#failed = call
    else call.stoppedBy = this.#failed === undefined ? cause.description : nameOf(this.#failed)
  }

  #progress({ call: id, data }: Of<'progress'>): void {
    const call = this.find(id)
    if (call === undefined) return
    const text = printedBy(data)
    if (text === undefined) call.progress = data
    else call.output = addOutput(call.output, text)
  }

  #result({ call: id, message, content, isError, at }: Of<'result'>): void {
    const call = this.find(id)
    if (call === undefined || message !== 'tool_result') return
    call.result ??= { content, isError }
    call.completedAt ??= at
  }
}
