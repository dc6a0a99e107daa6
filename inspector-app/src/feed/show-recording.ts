import { isSignalboxError } from '../../../src/base/signalbox-error.ts'
import type { Frame } from '../../../src/inspect/index.ts'
import type { Store } from '../store.ts'
import { outcomeOf } from '../words.ts'
import { readRecording } from './recorded-feed.ts'

const refuse = async (): Promise<string> => 'A recording accepts no commands.'

/** Replaces the current source with these frames. */
export function showFrames(store: Store, frames: readonly Frame[]): void {
  store.feed?.close()
  store.reset('recording')
  store.feed = { command: refuse, close: () => undefined }
  store.take(frames)
}

/** Most recordings are opened to see what failed. */
function selectFirstFailure(store: Store): void {
  const { run, selected } = store.state
  if (run !== undefined || selected !== undefined) return
  const failed = [...store.history.model.runs.values()].flatMap((each) =>
    each.calls.filter((call) => outcomeOf(call) === 'error').map((call) => ({ run: each.id, call })),
  )
  const [first] = failed.sort((a, b) => (a.call.completedAt ?? 0) - (b.call.completedAt ?? 0))
  if (first !== undefined) store.set({ run: first.run, selected: first.call.id })
}

/** Replaces the current source with a recording. Errors are shown on the page. */
export async function showRecording(store: Store, stream: ReadableStream<Uint8Array>): Promise<void> {
  store.feed?.close()
  store.reset('recording')
  const left = new AbortController()
  store.feed = { command: refuse, close: () => left.abort() }
  try {
    await readRecording(stream, (frames) => !left.signal.aborted && store.take(frames), left.signal)
    if (!left.signal.aborted) selectFirstFailure(store)
    if (!left.signal.aborted && store.history.isFull)
      store.set({ problem: 'The recording is too long for the browser. Only its beginning is shown.' })
  } catch (error) {
    if (left.signal.aborted) return
    const problem = isSignalboxError(error) ? error.message : 'This recording cannot be read. It may be damaged.'
    const isPart = store.history.length > 0
    if (isPart) selectFirstFailure(store)
    store.set({ problem: isPart ? `${problem} The page shows what comes before it.` : problem })
  }
}
