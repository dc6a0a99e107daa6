import type { Command, CoverageFile, Frame, StoredSessionList } from '../../src/inspect/index.ts'
import { Layouts } from './chart/layouts.ts'
import type { DeepLink } from './deep-link.ts'
import type { Feed } from './feed/feed.ts'
import type { SessionShelf } from './feed/session-shelf.ts'
import { type Keep, keepNothing } from './keep.ts'
import { isOver } from './model/conversation.ts'
import { History, liveWindow, type Window } from './model/history.ts'
import type { Call, Model, Run } from './model/model.ts'
import type { TimeRange } from './model/time-range.ts'
import { Painter } from './painter.ts'

/** In the order of the page. */
export const tabNames = [
  'story',
  'call',
  'log',
  'guards',
  'aborts',
  'context',
  'sequence',
  'rules',
  'whatIf',
  'compare',
] as const
export type Tab = (typeof tabNames)[number]

const isTab = (name: string | undefined): name is Tab => tabNames.some((each) => each === name)

export type Theme = 'auto' | 'light' | 'dark'

export interface State {
  /** The number of frames shown; undefined follows the newest. */
  position: number | undefined
  isPlaying: boolean
  /** The unit of the scrubber: equal lengths are equal times, or equal numbers of frames. */
  scale: 'time' | 'frames'
  run: number | undefined
  selected: string | undefined
  tab: Tab
  search: string
  /** The part of the time that every list shows; undefined shows all. */
  range: TimeRange | undefined
  /** Incremented to focus the search field. */
  searches: number
  theme: Theme
  source: 'none' | 'connecting' | 'live' | 'silent' | 'recording' | 'reconnecting' | 'gone' | 'refused'
  /** How many seconds the server has been silent, while the source is `silent`. */
  silence: number
  problem: string | undefined
  allowed: readonly Command[]
  /** The chart that fills the window. */
  full: 'executor' | 'call' | undefined
  isRailHidden: boolean
  /** Whether the page is large enough for the selected call beside the tabs. */
  isSplit: boolean
  dialog: 'find' | 'help' | 'sessions' | undefined
  /** The stored sessions of the server, if it has any. */
  sessions: StoredSessionList | undefined
  /** The stored session that is shown. */
  session: string | undefined
  /** Whose chart is first; a number is a server's. */
  first: 'executor' | 'query' | number
  /** Transition counts as colours on the charts: from this run or from a coverage file. */
  heat: 'off' | 'run' | 'file'
  coverage: CoverageFile | undefined
}

export interface View {
  readonly state: State
  readonly history: History
  readonly model: Model
  readonly run: Run | undefined
  /** The selected call, else a running one. */
  readonly call: Call | undefined
  readonly isChosen: boolean
}

export interface StoreOptions {
  readonly layouts?: Layouts
  readonly keep?: Keep
  readonly theme?: Theme
  /** The limits of a live page. */
  readonly window?: Window
}

/** The state of the page. Subscribers are notified once per animation frame. */
export class Store {
  history: History
  feed: Feed | undefined
  /** Where stored sessions come from. */
  shelf: SessionShelf | undefined
  /** Overrides the wall clock for the time between frames. */
  clock: (() => number) | undefined
  /** The view that the page's address requests, until it can be shown. */
  link: DeepLink | undefined
  readonly layouts: Layouts
  state: State
  readonly #keep: Keep
  readonly #window: Window
  readonly #listeners = new Set<() => void>()
  readonly #painter = new Painter(() => {
    for (const listener of this.#listeners) listener()
  })
  #isClosed = false
  #received = { seq: -1, at: 0 }

  constructor({ layouts = new Layouts(), keep = keepNothing, ...options }: StoreOptions = {}) {
    const { theme = readTheme(keep), window = liveWindow } = options
    this.layouts = layouts
    this.#keep = keep
    this.#window = window
    this.history = new History(window)
    this.state = {
      position: undefined,
      isPlaying: false,
      scale: 'time',
      run: undefined,
      selected: undefined,
      tab: 'story',
      search: '',
      range: undefined,
      searches: 0,
      theme,
      source: 'none',
      silence: 0,
      problem: undefined,
      allowed: [],
      full: undefined,
      isRailHidden: false,
      isSplit: false,
      dialog: undefined,
      sessions: undefined,
      session: undefined,
      first: 'executor',
      heat: 'off',
      coverage: undefined,
    }
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  set(change: Partial<State>): void {
    this.state = { ...this.state, ...change }
    if (change.theme !== undefined) this.#keep.write(themeKey, change.theme)
    this.#painter.paint()
  }

  /** Returns false if the history is full. */
  take(frames: readonly Frame[]): boolean {
    if (this.#isClosed) return false
    for (const frame of frames) this.history.push(frame)
    this.follow(this.link)
    this.#painter.paintSoon()
    return !this.history.isFull
  }

  /** Shows what the link asks for, as soon as its moment is there. */
  follow(link: DeepLink | undefined): void {
    const { history } = this
    this.link = link
    if (link === undefined || history.model.runs.size === 0 || (link.at ?? 0) > history.model.seq) return
    if (link.session !== undefined && link.session !== this.state.session) return
    this.link = undefined
    const { run, call, tab, at } = link
    this.set({
      run,
      selected: call,
      ...(isTab(tab) && { tab }),
      position: at === undefined ? undefined : history.positionOf(at),
    })
  }

  /** Clears everything for another source. */
  reset(source: State['source']): void {
    this.history = new History(source === 'recording' ? undefined : this.#window)
    const nothing = { position: undefined, run: undefined, selected: undefined, problem: undefined, range: undefined }
    this.set({ session: undefined, source, isPlaying: false, first: 'executor', ...nothing })
  }

  /** Closes the feed. */
  close(): void {
    this.#isClosed = true
    this.feed?.close()
    this.feed = undefined
    this.#painter.close()
    this.#listeners.clear()
  }

  /** The time of the newest frame plus the time since it arrived. */
  now(): number {
    if (this.clock !== undefined) return this.clock()
    const { seq, at } = this.history.model
    if (seq !== this.#received.seq) this.#received = { seq, at: performance.now() }
    return at + Math.min(performance.now() - this.#received.at, 3_600_000)
  }

  seek(position: number): void {
    const bounded = Math.max(this.history.start, Math.min(this.history.length, Math.round(position)))
    const isAtEnd = bounded >= this.history.length && this.state.source === 'live'
    this.set({ position: isAtEnd ? undefined : bounded })
  }

  /** Moves every view to the moment of a frame. */
  goTo(seq: number, also: Partial<State> = {}): void {
    this.set({ position: this.history.positionOf(seq), isPlaying: false, ...also })
  }

  select(id: string | undefined): void {
    const { tab, isSplit } = this.state
    const givesWay = tab === 'story' || tab === 'log' || tab === 'sequence'
    const shown: Tab = id !== undefined && !isSplit && givesWay ? 'call' : tab
    this.set({ selected: id, tab: shown })
  }

  /** Selects a call of any run. */
  choose(run: number, call: string): void {
    this.set({ run })
    this.select(call)
  }

  view(): View {
    const { state, history } = this
    const model = state.position === undefined ? history.model : history.modelAt(state.position)
    const run = (state.run === undefined ? undefined : model.runs.get(state.run)) ?? this.#newest(model)
    const chosen = state.selected === undefined ? undefined : run?.byId.get(state.selected)
    return { state, history, model, run, call: chosen ?? (run && underWay(run)), isChosen: chosen !== undefined }
  }

  /**
   * The newest run that has calls: a turn without calls, such as the last one of a query, does not replace it. When a
   * sub-agent's query is over, its parent run is shown again.
   */
  #newest({ runs, latestRun }: Model): Run | undefined {
    const all = [...runs.values()]
    const latest = runs.get(latestRun) ?? all.at(-1)
    if (latest === undefined) return undefined
    const working = isOver(latest) ? all.findLast(isWorking) : undefined
    if (working !== undefined || this.state.first === 'query') return working ?? latest
    const hasCalls = ({ calls }: Run): boolean => calls.length > 0
    const own = isOver(latest) ? all.filter(({ parentToolUseID }) => parentToolUseID === undefined) : all
    return own.findLast(hasCalls) ?? all.findLast(hasCalls) ?? latest
  }
}

const isWorking = ({ isWatched, executing, isDiscarded }: Run): boolean =>
  isWatched && executing.size > 0 && !isDiscarded

function underWay(run: Run): Call | undefined {
  const [first] = run.executing
  if (first !== undefined) return run.byId.get(first)
  return run.calls[Math.min(run.cursor.next, run.calls.length - 1)]
}

const themeKey = 'theme'

function readTheme(keep: Keep): Theme {
  const kept = keep.read(themeKey)
  return kept === 'light' || kept === 'dark' ? kept : 'auto'
}
