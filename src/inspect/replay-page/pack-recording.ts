import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { readFrames } from '../index.ts'

/** Bytes per block of the page. A multiple of three, so that each block is valid base64 on its own. */
const blockBytes = 600_000

/**
 * A recording as base64 of one gzip stream, block by block, at any size. The bytes are unchanged. Throws an error that
 * names the line if the input is not a recording.
 */
export async function* packRecording(chunks: AsyncIterable<string | Uint8Array>): AsyncGenerator<string> {
  const zipped = pipeline(Readable.from(whileChecked(chunks)), createGzip(), () => undefined)
  let begun: Buffer = Buffer.alloc(0)
  for await (const chunk of zipped as AsyncIterable<Buffer>) {
    begun = Buffer.concat([begun, chunk])
    for (; begun.length >= blockBytes; begun = begun.subarray(blockBytes)) {
      yield begun.subarray(0, blockBytes).toString('base64')
    }
  }
  if (begun.length > 0) yield begun.toString('base64')
}

async function* whileChecked(
  chunks: AsyncIterable<string | Uint8Array>,
): AsyncGenerator<string | Uint8Array, void, undefined> {
  const taken: (string | Uint8Array)[] = []
  async function* tapped(): AsyncGenerator<string | Uint8Array> {
    for await (const chunk of chunks) {
      taken.push(chunk)
      yield chunk
    }
  }
  for await (const _frame of readFrames(tapped())) yield* taken.splice(0)
  yield* taken
}
