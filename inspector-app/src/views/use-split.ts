import type { RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'
import type { Store } from '../store.ts'

/** From this size on, the selected call has a panel of its own beside the tabs. */
const splitWidth = 1_360
const splitHeight = 720

/** Keeps the store's `isSplit` in step with the room for the page. */
export function useSplit(store: Store, root: RefObject<HTMLElement>): void {
  useLayoutEffect(() => {
    const room = root.current?.querySelector('.room')
    if (room == null) return
    const measure = (): void => {
      const { width, height } = room.getBoundingClientRect()
      const isSplit = width >= splitWidth && height >= splitHeight
      if (isSplit !== store.state.isSplit) store.set({ isSplit })
    }
    measure()
    const watch = new ResizeObserver(measure)
    watch.observe(room)
    return () => watch.disconnect()
  }, [store, root])
}
