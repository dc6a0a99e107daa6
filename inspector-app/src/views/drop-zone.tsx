import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { isCoverage, openCoverage } from '../feed/coverage-file.ts'
import { showRecording } from '../feed/show-recording.ts'
import type { Store } from '../store.ts'
import { useStore } from '../use-view.ts'

export async function openFile(store: Store, file: File): Promise<void> {
  // a coverage file is recognised by its beginning and can be combined with any run
  if (isCoverage(await file.slice(0, 200).text())) return openCoverage(store, await file.text())
  await showRecording(store, file.stream())
}

/** Accepts a recording or a coverage file dropped anywhere. */
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
