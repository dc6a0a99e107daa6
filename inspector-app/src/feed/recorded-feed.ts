import { type Frame, frameLine, readFrames } from '../../../src/inspect/index.ts'

/** Large enough to be fast, small enough that the page stays responsive. */
const framesPerTurn = 4_000

/** Reads a recording from a file or from the server. Throws a readable error at the first line that is not a frame. */
export async function readRecording(
  stream: ReadableStream<Uint8Array>,
  onFrames: (frames: readonly Frame[]) => boolean,
  signal?: AbortSignal,
): Promise<void> {
  let batch: Frame[] = []
  try {
    for await (const frame of readFrames(chunksOf(stream, signal))) {
      batch.push(frame)
      if (batch.length < framesPerTurn) continue
      const isWanted = onFrames(batch)
      batch = []
      if (!isWanted) return
      await new Promise((resolve) => setTimeout(resolve))
    }
  } finally {
    // those before a damaged line too
    onFrames(batch)
  }
}

async function* chunksOf(stream: ReadableStream<Uint8Array>, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  const leave = (): void => void reader.cancel().catch(() => undefined)
  signal?.addEventListener('abort', leave)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    signal?.removeEventListener('abort', leave)
    leave()
  }
}

/** Saves the frames unchanged as a file. */
export function saveRecording(frames: readonly Frame[], name: string): void {
  const parts: string[] = []
  for (let at = 0; at < frames.length; at += framesPerTurn) {
    parts.push(
      frames
        .slice(at, at + framesPerTurn)
        .map(frameLine)
        .join(''),
    )
  }
  const url = URL.createObjectURL(new Blob(parts, { type: 'application/x-ndjson' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
