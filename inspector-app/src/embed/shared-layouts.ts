import { ready } from 'virtual:chart-layouts'
import { Layouts } from '../chart/layouts.ts'
import { startPackedWorker } from '../chart/packed-worker.ts'

let shared: Layouts | undefined
let users = 0

/** All inspectors of the page share one worker and its layouts. */
export function borrowLayouts(workerUrl: string | URL | undefined): { layouts: Layouts; giveBack: () => void } {
  if (workerUrl !== undefined) {
    const layouts = new Layouts({ start: () => new Worker(workerUrl), ready })
    return { layouts, giveBack: () => layouts.close() }
  }
  shared ??= new Layouts({
    start: async () => startPackedWorker((await import('virtual:elk-worker-packed')).packed),
    ready,
  })
  users++
  const layouts = shared
  return {
    layouts,
    giveBack() {
      if (--users === 0) layouts.close()
    },
  }
}
