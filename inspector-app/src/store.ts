import type { Command, CoverageFile, Frame } from '../../src/inspect/index.ts'
import type { LiveFeed } from './feed/live-feed.ts'
import { History } from './model/history.ts'
import type { Call, Model, Run } from './model/model.ts'

export type Tab = 'log' | 'call' | 'guards' | 'aborts' | 'context' | 'sequence' | 'rules'
export type Theme = 'auto' | 'light' | 'dark'

export interface State {
  /** How many frames are shown; undefined follows the newest. */
  position: number | undefined
  isPlaying: boolean
  run: number | undefined
  selected: string | undefined
  tab: Tab
  search: string
  /** Grows when the search field is asked for. */
  searches: number
  theme: Theme
  source: 'none' | 'connecting' | 'live' | 'recording' | 'lost'
  problem: string | undefined
  allowed: readonly Command[]
  wide: 'executor' | 'call' | undefined
  /** The query's chart in the place of the executor's. */
  showsQuery: boolean
  /** How often what was taken, as colours on the charts: in this run, or by a test suite. */
  heat: 'off' | 'run' | 'file'
  coverage: CoverageFile | undefined
}

export interface View {
  readonly state: State
  readonly history: History
  readonly model: Model
  readonly run: Run | undefined
  /** The call that is looked at: the chosen one, else one that is under way. */
  readonly call: Call | undefined
  readonly isChosen: boolean
}

/** What the page knows. Whoever draws is told once per picture, however much came in between. */
export class Store {
  history = new History()
  feed: LiveFeed | undefined
  state: State = {
    position: undefined,
    isPlaying: false,
    run: undefined,
    selected: undefined,
    tab: 'log',
    search: '',
    searches: 0,
    theme: readTheme(),
    source: 'none',
    problem: undefined,
    allowed: [],
    wide: undefined,
    showsQuery: false,
    heat: 'off',
    coverage: undefined,
  }
  readonly #listeners = new Set<() => void>()
  #isDue = false

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  set(change: Partial<State>): void {
    this.state = { ...this.state, ...change }
    if (change.theme !== undefined) keepTheme(change.theme)
    this.#paint()
  }

  take(frames: readonly Frame[]): boolean {
    for (const frame of frames) this.history.push(frame)
    this.#paint()
    return !this.history.isFull
  }

  /** Begins anew with another source. */
  reset(source: State['source']): void {
    this.history = new History()
    this.set({ source, position: undefined, isPlaying: false, run: undefined, selected: undefined, problem: undefined })
  }

  seek(position: number): void {
    const bounded = Math.max(0, Math.min(this.history.length, Math.round(position)))
    const isAtEnd = bounded >= this.history.length && this.state.source === 'live'
    this.set({ position: isAtEnd ? undefined : bounded })
  }

  select(id: string | undefined): void {
    const { tab } = this.state
    const shown: Tab = id !== undefined && (tab === 'log' || tab === 'sequence') ? 'call' : tab
    this.set({ selected: id, tab: shown })
  }

  view(): View {
    const { state, history } = this
    const model = state.position === undefined ? history.model : history.modelAt(state.position)
    const run = model.runs.get(state.run ?? model.latestRun) ?? model.runs.get(model.latestRun)
    const chosen = state.selected === undefined ? undefined : run?.byId.get(state.selected)
    return { state, history, model, run, call: chosen ?? (run && underWay(run)), isChosen: chosen !== undefined }
  }

  #paint(): void {
    if (this.#isDue) return
    this.#isDue = true
    requestAnimationFrame(() => {
      this.#isDue = false
      for (const listener of this.#listeners) listener()
    })
  }
}

function underWay(run: Run): Call | undefined {
  const [first] = run.executing
  if (first !== undefined) return run.byId.get(first)
  return run.calls[Math.min(run.cursor.next, run.calls.length - 1)]
}

const themeKey = 'signalbox.theme'

function readTheme(): Theme {
  try {
    const kept = localStorage.getItem(themeKey)
    return kept === 'light' || kept === 'dark' ? kept : 'auto'
  } catch {
    return 'auto'
  }
}

function keepTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme
  try {
    localStorage.setItem(themeKey, theme)
  } catch {
    // a browser that keeps nothing shows the theme all the same
  }
}
