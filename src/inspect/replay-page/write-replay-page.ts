import { createReadStream, createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'
import { pageShell } from '../built-page.ts'
import { type Frame, frameLine } from '../index.ts'
import { packRecording } from './pack-recording.ts'

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

/** A stream of a recording's bytes or text, or its frames. */
export type Recording = AsyncIterable<string | Uint8Array> | Iterable<Frame>

export interface ReplayPageOptions {
  /** The folder of the built app, if not the default. */
  appFolder?: string | undefined
}

const notice =
  '<!-- The layout of the charts is done by elkjs, unmodified, under the Eclipse Public License 2.0 (https://www.eclipse.org/legal/epl-2.0); its sources are at https://github.com/kieler/elkjs. -->'

/**
 * Streams one HTML page with a recording and the app inside. The recording is gzipped and base64-encoded, so its content
 * cannot be parsed as HTML.
 */
export async function* replayPageOf(
  recording: Recording,
  { appFolder }: ReplayPageOptions = {},
): AsyncGenerator<string, void, undefined> {
  const { before, after, worker } = pageShell(appFolder)
  yield `${before}${notice}\n${block('worker', gzipSync(worker).toString('base64'))}`
  for await (const packed of packRecording(chunksOf(recording))) yield block('recording', packed)
  yield after.trimStart()
}

const block = (kind: string, packed: string): string =>
  `<script type="application/x-signalbox-${kind}">${packed}</script>\n`

async function* chunksOf(recording: Recording): AsyncGenerator<string | Uint8Array> {
  if (Symbol.asyncIterator in recording) yield* recording
  else for (const frame of recording) yield frameLine(frame)
}
