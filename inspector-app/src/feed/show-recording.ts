import { isSignalboxError } from '../../../src/errors/signalbox-error.ts'
import type { Store } from '../store.ts'
import { readRecording } from './recorded-feed.ts'

/** Shows a recording in the place of whatever was there. Trouble with it becomes a sentence on the page. */
export async function showRecording(store: Store, stream: ReadableStream<Uint8Array>): Promise<void> {
  store.reset('recording')
  try {
    await readRecording(stream, (frames) => store.take(frames))
    if (store.history.isFull)
      store.set({ problem: 'The recording is longer than a browser can hold; this is its beginning.' })
  } catch (error) {
    store.set({
      problem: isSignalboxError(error) ? error.message : 'This recording cannot be read; it may be damaged.',
    })
  }
}
