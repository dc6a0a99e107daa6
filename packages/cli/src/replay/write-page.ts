import { access } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { ReplayPageOptions } from 'signalbox/inspect/replay'
import { exitCode } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { fileError, usageError } from '../usage-error.ts'

/** `signalbox replay --html`: writes the recording and the inspector as one file. */
export async function writePage(
  recording: string,
  page: string,
  { stdout }: Io,
  options: ReplayPageOptions = {},
): Promise<number> {
  await access(recording).catch((error) => {
    throw fileError(recording, error)
  })
  if (resolve(page) === resolve(recording))
    throw usageError('The page would overwrite the recording. Choose another file.')
  const { writeReplayPage } = await import('signalbox/inspect/replay')
  const bytes = await writeReplayPage(recording, page, options)
  stdout.write(`${page}: ${(bytes / 1_000_000).toFixed(1)} MB. Open it in any browser.\n`)
  return exitCode.done
}
