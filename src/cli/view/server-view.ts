import { applyPatch, type ChartDefinition, type Encoded, type Frame } from '../../inspect/index.ts'
import { cleanLine } from './clean-text.ts'
import { innermostState } from './innermost-state.ts'

const maxProblem = 200

/** A connection to a server, as far as the frames tell of it: how it stands, and who waits for it. */
export class ServerView {
  readonly name: string
  readonly #root: string
  readonly #charts = new Map<string, ChartDefinition>()
  readonly #waiting = new Set<string>()
  #chart = ''
  #active: readonly number[] = []
  #context: Encoded = {}

  constructor({ name, root }: { readonly name: string; readonly root: string }) {
    this.name = name
    this.#root = root
  }

  take(frame: Frame): void {
    if (frame.type === 'chart') this.#charts.set(frame.chart.id, frame.chart)
    else if (frame.type === 'waiting') {
      if (frame.isWaiting) this.#waiting.add(frame.call)
      else this.#waiting.delete(frame.call)
    } else if (frame.type === 'actor' && frame.actor === this.#root) {
      this.#chart = frame.chart
      this.#active = frame.active
      this.#context = frame.context
    } else if (frame.type === 'step' && frame.actor === this.#root) {
      this.#active = frame.active ?? this.#active
      if (frame.context !== undefined) this.#context = applyPatch(this.#context, frame.context)
    }
  }

  isAwaitedBy(call: string): boolean {
    return this.#waiting.has(call)
  }

  /** Why whoever waits for it waits, in words. */
  get words(): string {
    const state = innermostState(this.#charts.get(this.#chart), this.#active) || 'unknown'
    const said = state === 'backingOff' ? 'backing off' : state
    const problem = problemIn(this.#context)
    return `waits for the server ${cleanLine(this.name)} (${cleanLine(said)}${problem === '' ? '' : `: ${problem}`})`
  }
}

function problemIn(context: Encoded): string {
  const { problem } = (typeof context === 'object' && context !== null ? context : {}) as { problem?: unknown }
  return typeof problem === 'string' ? cleanLine(problem).slice(0, maxProblem) : ''
}
