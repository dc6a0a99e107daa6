import {
  type ActorState,
  activeStates,
  type CallState,
  type Encoded,
  type Frame,
  type FrameOf,
  foldRun,
  newRunState,
  type RunListener,
  type RunState,
  type WaitGroup,
  waitOf,
} from 'signalbox/inspect'
import { type CallView, nameOf } from './call-view.ts'
import { plainText } from './plain-text.ts'

/** As much of a running call's output as could ever be shown. */
const maxKept = 8_192

/** The calls of one executor: the run model, plus what only the terminal shows. */
export class RunView {
  readonly #run: RunState<CallView>
  readonly #listener: RunListener<RunState<CallView>>
  /** The call whose failure stops the others. */
  #failed: CallView | undefined

  /** @param newCall adds a call to the session */
  constructor(frame: FrameOf<'run'>, newCall: (state: CallState, isDiscarded: boolean) => CallView) {
    this.#run = newRunState(frame)
    this.#listener = {
      newActor: (state) => state,
      newCall: (state) => newCall(state, this.#isOver),
      onActor: (actor, { at }) => this.#setState(actor, at),
      onStep: (actor, { active, at }) => (active === undefined ? undefined : this.#setState(actor, at)),
      onCall: (call, { at }) => this.#setState(this.#run.actors.get(call.actor), at),
      onStage(call, _, { at }) {
        if (call.stage === 'completed') call.completedAt ??= at
      },
      onDiscarded: () => this.#giveUp(),
      onLeft: () => this.#giveUp(),
      onAbort: (call, frame) => this.#abort(call, frame),
      onProgress,
      onResult,
    }
  }

  take(frame: Frame): void {
    foldRun(this.#run, frame, this.#listener)
  }

  find(id: string | null): CallView | undefined {
    return id === null ? undefined : this.#run.byId.get(id)
  }

  /** The call that the cursor waits for. */
  get next(): CallView | undefined {
    return this.find(this.#run.cursor.waitsFor)
  }

  get maxConcurrency(): number | null {
    return this.#run.maxConcurrency
  }

  get isInQuery(): boolean {
    return this.#run.queryActor !== undefined
  }

  waitOf({ index }: CallView): WaitGroup | undefined {
    return waitOf(this.#run, index)
  }

  /** The run was discarded, or the recorder detached: undelivered results are never delivered. */
  get #isOver(): boolean {
    return this.#run.isDiscarded || !this.#run.isWatched
  }

  #giveUp(): void {
    for (const call of this.#run.calls) if (call.result === undefined) call.isDiscarded = true
  }

  #setState(actor: ActorState | undefined, at: number): void {
    const call = actor && this.#run.byActor.get(actor.id)
    if (call === undefined || actor === undefined) return
    call.state = activeStates(this.#run.charts.get(actor.chart), actor.active).phase
    if (call.state === 'calling') call.ranAt ??= at
  }

  #abort(call: CallView | undefined, { layer, cause }: FrameOf<'abort'>): void {
    if (call === undefined || cause.kind !== 'sibling_error') return
    if (layer === 'executor') this.#failed = call
    else call.stoppedBy = this.#failed === undefined ? cause.description : nameOf(this.#failed)
  }
}

function onProgress(call: CallView, { data }: FrameOf<'progress'>): void {
  const text = printedBy(data)
  if (text === undefined) call.progress = data
  else call.output = addOutput(call.output, text)
}

function onResult(call: CallView, { message, content, isError, at }: FrameOf<'result'>): void {
  if (message !== 'tool_result') return
  call.result ??= { content, isError }
  call.completedAt ??= at
}

/** The output of a call, if its progress is output. */
function printedBy(progress: Encoded): string | undefined {
  if (typeof progress === 'string') return `${progress}\n`
  if (typeof progress !== 'object' || progress === null || !('text' in progress)) return undefined
  const { $: tag, text } = progress as { $?: Encoded; text: Encoded }
  // a long text comes as an object of the same shape
  return tag === undefined || tag === 'text' ? plainText(tag === 'text' ? progress : text) : undefined
}

function addOutput({ text, lines }: { text: string; lines: number }, more: string) {
  const all = text + more
  const counted = lines + more.split('\n').length - 1
  return { text: all.length > 2 * maxKept ? all.slice(-maxKept) : all, lines: counted }
}
