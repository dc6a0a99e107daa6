import type { ComponentChildren, RefObject } from 'preact'
import { useView } from '../use-view.ts'
import { DropZone } from './drop-zone.tsx'

interface Props {
  readonly fit: 'page' | 'box'
  readonly aside: ComponentChildren
  readonly root: RefObject<HTMLDivElement>
  readonly children: ComponentChildren
}

/** The colours, and the room that everything has: a page, or a box in one. Takes the focus of a click, for the keys. */
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
