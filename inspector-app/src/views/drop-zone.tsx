import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { showRecording } from '../feed/show-recording.ts'
import type { Store } from '../store.ts'
import { useStore } from '../use-view.ts'

export const openFile = (store: Store, file: File): Promise<void> => showRecording(store, file.stream())

/** A recording may be dropped anywhere. */
export function DropZone({ children }: { children: ComponentChildren }) {
  const store = useStore()
  const [isOver, setOver] = useState(false)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a convenience; the button does the same
    <div
      class={isOver ? 'shell over' : 'shell'}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        const file = event.dataTransfer?.files[0]
        if (file !== undefined) void openFile(store, file)
      }}
    >
      {children}
    </div>
  )
}
