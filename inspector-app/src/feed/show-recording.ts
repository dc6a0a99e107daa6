import { isSignalboxError } from '../../../src/errors/signalbox-error.ts'
import type { Frame } from '../../../src/inspect/index.ts'
import type { Store } from '../store.ts'
import { readRecording } from './recorded-feed.ts'

const refuse = async (): Promise<string> => 'A recording only tells what was.'

/** Shows frames that are there already in the place of whatever was. */
export function showFrames(store: Store, frames: readonly Frame[]): void {
  store.feed?.close()
  store.reset('recording')
  store.feed = { command: refuse, close: () => undefined }
  store.take(frames)
}

/** Shows a recording in the place of whatever was there. Trouble with it becomes a sentence on the page. */
export async function showRecording(store: Store, stream: ReadableStream<Uint8Array>): Promise<void> {
  store.feed?.close()
  store.reset('recording')
  const left = new AbortController()
  store.feed = { command: refuse, close: () => left.abort() }
  try {
    await readRecording(stream, (frames) => !left.signal.aborted && store.take(frames), left.signal)
    if (!left.signal.aborted && store.history.isFull)
      store.set({ problem: 'The recording is longer than a browser can hold; this is its beginning.' })
  } catch (error) {
    if (left.signal.aborted) return
    const problem = isSignalboxError(error) ? error.message : 'This recording cannot be read; it may be damaged.'
    store.set({ problem })
  }
}
