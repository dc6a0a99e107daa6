import { invalidOption } from '../../../src/base/invalid-option.ts'
import type { InspectorSource, RecordingSource } from '../../../src/inspect/app/index.ts'
import type { Frame } from '../../../src/inspect/index.ts'
import { connect } from '../feed/connect.ts'
import { openPageFeed } from '../feed/page-feed.ts'
import { showRecording } from '../feed/show-recording.ts'
import type { Store } from '../store.ts'

/** Starts showing the host's source. */
export function openSource(store: Store, source: InspectorSource): void {
  if ('shown' in source) {
    const { shown, ...options } = source
    const feed = openPageFeed(store, options)
    store.feed = feed
    for (const each of Symbol.iterator in shown ? shown : [shown]) feed.add(each)
  } else if ('recorder' in source) {
    store.reset('live')
    const leave = source.recorder.follow((frame) => store.take([frame]))
    store.feed = { command: async () => 'This inspector is read-only.', close: leave }
  } else if ('url' in source) {
    const { origin, hash } = new URL(source.url, location.href)
    const token = new URLSearchParams(hash.slice(1)).get('token')
    if (token === null) invalidOption('source.url', 'the address of an inspector, with its token', `${source.url}`)
    connect(store, origin, token)
  } else if ('recording' in source) void showRecording(store, streamOf(source.recording))
  else invalidOption('source', 'an object with shown, recorder, url or recording', source)
}

function streamOf(recording: RecordingSource['recording']): ReadableStream<Uint8Array> {
  if (recording instanceof ReadableStream) return recording
  if (recording instanceof Blob) return recording.stream()
  if (typeof recording === 'string') return new Blob([recording]).stream()
  if (typeof recording?.[Symbol.iterator] !== 'function') {
    invalidOption('source.recording', 'a Blob, a stream, a string or frames', recording)
  }
  return linesOf(recording)
}

function linesOf(frames: Iterable<Frame>): ReadableStream<Uint8Array> {
  const rest = frames[Symbol.iterator]()
  const encoder = new TextEncoder()
  return new ReadableStream({
    pull(controller) {
      const { done, value } = rest.next()
      if (done === true) return controller.close()
      controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`))
    },
  })
}
