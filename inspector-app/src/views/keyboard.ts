import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'
import { type Store, tabNames } from '../store.ts'
import { leaveFullScreen } from './full-screen.ts'

/** Keyboard control: page-wide on a separate page, otherwise only inside the box. */
export function useKeyboard(store: Store, inside?: RefObject<HTMLElement>): void {
  useEffect(() => {
    const place: EventTarget = inside?.current ?? window
    const onKey = (event: Event): void => {
      if (event instanceof KeyboardEvent) press(event)
    }
    /** From the slash until the search field has the focus: what is typed belongs to the search. */
    let isSearchDue = false
    const press = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement
      const isTyping = target.matches('input:not([type=range]), select, textarea')
      if ((event.ctrlKey || event.metaKey) && event.key === 'k') {
        event.preventDefault()
        return store.set({ dialog: 'find' })
      }
      if (event.ctrlKey || event.metaKey || event.altKey) return
      const isForSearch = isSearchDue && !isTyping && event.key.length === 1
      isSearchDue = isForSearch || (event.key === '/' && !isTyping)
      if (isForSearch) {
        event.preventDefault()
        return store.set({ search: store.state.search + event.key })
      }
      if (event.key === 'Escape') {
        target.blur()
        if (store.state.dialog !== undefined) return store.set({ dialog: undefined })
        if (store.state.full !== undefined) return leaveFullScreen(store)
        if (store.state.range !== undefined) return store.set({ range: undefined })
        return store.set({ selected: undefined, first: 'executor' })
      }
      // behind a dialog nothing changes
      if (isTyping || store.state.dialog !== undefined) return
      const act = actions(store, event.shiftKey)[event.key]
      if (act === undefined) return
      // a focused control keeps its own arrow and space keys
      if (
        target.matches('button, [role=tab], input') &&
        [' ', 'ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(event.key)
      )
        return
      event.preventDefault()
      act()
    }
    place.addEventListener('keydown', onKey)
    return () => place.removeEventListener('keydown', onKey)
  }, [store])
}

function actions(store: Store, isFar: boolean): Record<string, () => void> {
  const { state, history } = store
  const { start, length } = history
  const position = state.position ?? length
  const by = (count: number) => () =>
    store.set({ position: Math.max(start, clamp(position + count, length)), isPlaying: false })
  return {
    ArrowLeft: by(isFar ? -50 : -1),
    ArrowRight: by(isFar ? 50 : 1),
    Home: by(-history.length),
    End: () => store.set({ position: undefined, isPlaying: false }),
    l: () => store.set({ position: undefined, isPlaying: false }),
    ' ': () => togglePlay(store),
    j: () => selectNext(store, 1),
    k: () => selectNext(store, -1),
    '[': () => selectFrom(store),
    ']': () => selectUntil(store),
    '?': () => store.set({ dialog: 'help' }),
    c: () => store.set({ isRailHidden: !state.isRailHidden }),
    '/': () => store.set({ tab: 'log', searches: state.searches + 1 }),
    ...Object.fromEntries(tabNames.map((tab, index) => [String((index + 1) % 10), () => store.set({ tab })])),
  }
}

export function togglePlay(store: Store): void {
  const { state, history } = store
  if (state.isPlaying) return store.set({ isPlaying: false, position: state.position ?? history.length })
  const isAtEnd = state.position === undefined || state.position >= history.length
  store.set({ isPlaying: true, position: isAtEnd ? history.start : (state.position ?? 0) })
}

/** The moment shown becomes the start of the selected range. */
function selectFrom(store: Store): void {
  const { model, history } = store.view()
  const until = store.state.range?.[1] ?? history.model.at
  store.set({ range: [model.at, Math.max(model.at, until)] })
}

function selectUntil(store: Store): void {
  const { model, history } = store.view()
  const from = store.state.range?.[0] ?? history.startedAt
  store.set({ range: [Math.min(from, model.at), model.at] })
}

function selectNext(store: Store, by: number): void {
  const { run, call } = store.view()
  const next = run?.calls[clamp((call?.index ?? -by) + by, run.calls.length - 1)]
  if (next !== undefined) store.select(next.id)
}

const clamp = (value: number, most: number): number => Math.max(0, Math.min(most, value))
