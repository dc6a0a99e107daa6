import { ShownRuns } from '../../../src/inspect/bridge/shown-runs.ts'
import { createRecorder, type RecorderOptions, type Showable } from '../../../src/inspect/index.ts'
import type { Store } from '../store.ts'
import type { Feed } from './feed.ts'

type Options = Omit<RecorderOptions, 'onFrame'> & { commands?: ConstructorParameters<typeof ShownRuns>[0] }

export interface PageFeed extends Feed {
  add(shown: Showable, title?: string): void
}

/** Executors in this page, without a server. */
export function openPageFeed(store: Store, { commands, ...options }: Options): PageFeed {
  const runs = new ShownRuns(commands)
  const leave: (() => void)[] = []
  store.reset('live')
  store.set({ allowed: runs.allowed })
  runs.begin(createRecorder({ ...options, onFrame: (frame) => store.take([frame]) }))
  return {
    add: (shown, title) => void leave.push(runs.add(shown, { title })),
    command: async (run, command, details) =>
      runs.command({
        run,
        command,
        call: details?.call,
        isAllowed: details?.allow === true,
        message: details?.message,
        isAlways: details?.always === true,
      }),
    close() {
      for (const each of leave.splice(0)) each()
      runs.end()
    },
  }
}
