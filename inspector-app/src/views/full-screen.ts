import type { State, Store } from '../store.ts'

/** The chart fills the window, and the screen if the browser allows it. */
export function fillScreen(store: Store, from: Element, full: State['full']): void {
  store.set({ full })
  const root = from.closest('.inspector')
  if (root === null || !document.fullscreenEnabled) return
  const onChange = (): void => {
    if (document.fullscreenElement !== null) return
    document.removeEventListener('fullscreenchange', onChange)
    store.set({ full: undefined })
  }
  void root.requestFullscreen().then(
    () => document.addEventListener('fullscreenchange', onChange),
    () => undefined,
  )
}

export function leaveFullScreen(store: Store): void {
  store.set({ full: undefined })
  if (document.fullscreenElement !== null) void document.exitFullscreen().catch(() => undefined)
}
