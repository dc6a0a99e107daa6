import type { RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'

/** If what has the focus goes away, such as an answered question, the nearest part around it that is left gets the focus. */
export function useKeptFocus(inside: RefObject<HTMLElement>): void {
  useLayoutEffect(() => {
    const root = inside.current
    if (root === null) return
    /** What has the focus, and what is around it. */
    let path: readonly HTMLElement[] = []
    const forget = (): void => {
      path = []
      watch.disconnect()
    }
    const watch = new MutationObserver(() => {
      if (path[0] === undefined || path[0].isConnected) return
      const near = path.find(({ isConnected }) => isConnected)
      forget()
      // a dialog gives it back by itself, and somebody may have gone elsewhere
      if (near !== undefined && document.activeElement === document.body) focusOn(near)
    })
    const onFocusIn = (event: FocusEvent): void => {
      const around = event.composedPath()
      path = around.slice(0, around.indexOf(root)) as HTMLElement[]
      watch.observe(root, { childList: true, subtree: true })
    }
    const onFocusOut = (): void => {
      const [left] = path
      // what is being removed loses the focus too
      queueMicrotask(() => {
        if (left !== undefined && left === path[0] && left.isConnected && !left.matches(':focus')) forget()
      })
    }
    root.addEventListener('focusin', onFocusIn)
    root.addEventListener('focusout', onFocusOut)
    return () => {
      root.removeEventListener('focusin', onFocusIn)
      root.removeEventListener('focusout', onFocusOut)
      forget()
    }
  }, [])
}

function focusOn(part: HTMLElement): void {
  part.focus({ preventScroll: true })
  if (part.matches(':focus')) return
  part.tabIndex = -1
  part.addEventListener('blur', () => part.removeAttribute('tabindex'), { once: true })
  part.focus({ preventScroll: true })
}
