import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useStore } from '../use-view.ts'

interface Props {
  readonly label: string
  readonly kind?: string
  readonly children: ComponentChildren
}

/** A dialog over the page. The browser keeps the focus inside and returns it afterwards. */
export function Dialog({ label, kind = '', children }: Props) {
  const store = useStore()
  const box = useRef<HTMLDialogElement>(null)
  const close = (): void => store.set({ dialog: undefined })
  useLayoutEffect(() => {
    const dialog = box.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc does the same
    <dialog
      ref={box}
      class={`dialog ${kind}`}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault()
        close()
      }}
      // the dialog itself is its backdrop: everything inside is in its children
      onClick={({ target, currentTarget }) => target === currentTarget && close()}
    >
      {children}
    </dialog>
  )
}
