import { createReadStream, createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Recording, type ReplayPageOptions, replayPageOf } from './replay-page-of.ts'

/**
 * Writes a recording (a path, a stream of its bytes, or its frames) as one HTML file that opens anywhere without a
 * network. The file appears atomically when it is complete.
 *
 * @returns the size in bytes
 */
export async function writeReplayPage(
  recording: string | URL | Recording,
  path: string,
  options: ReplayPageOptions = {},
): Promise<number> {
  const source = typeof recording === 'string' || recording instanceof URL ? createReadStream(recording) : recording
  const draft = `${path}.${process.pid}.part`
  const file = createWriteStream(draft)
  try {
    await pipeline(Readable.from(replayPageOf(source, options)), file)
    await rename(draft, path)
    return file.bytesWritten
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}
