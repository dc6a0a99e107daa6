import type { ComponentChildren, RefObject } from 'preact'
import { useView } from '../use-view.ts'
import { DropZone } from './drop-zone.tsx'

interface Props {
  readonly fit: 'page' | 'box'
  readonly aside: ComponentChildren
  readonly root: RefObject<HTMLDivElement>
  readonly children: ComponentChildren
}

/** The outer element: theme and size, as a page or a box. Focusable, so that keys work after a click. */
export function Outside({ fit, aside, root, children }: Props) {
  const { state } = useView()
  return (
    <div ref={root} class="inspector" data-fit={fit} data-theme={state.theme} tabIndex={-1}>
      {aside}
      <div class="room">
        <DropZone>{children}</DropZone>
      </div>
    </div>
  )
}
