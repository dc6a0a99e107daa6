import { access } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { ReplayPageOptions } from '../../replay-page/index.ts'
import { exitCode } from '../exit-code.ts'
import { fileError } from '../file-error.ts'
import type { Io } from '../io.ts'
import { usageError } from '../usage-error.ts'

/** `signalbox replay --html`: the recording and the inspector as one file. */
export async function writePage(
  recording: string,
  page: string,
  { stdout }: Io,
  options: ReplayPageOptions = {},
): Promise<number> {
  await access(recording).catch((error) => {
    throw fileError(recording, error)
  })
  if (resolve(page) === resolve(recording)) throw usageError('The page would take the place of the recording.')
  const { writeReplayPage } = await import('../../replay-page/index.ts')
  const bytes = await writeReplayPage(recording, page, options)
  stdout.write(`${page}: ${(bytes / 1_000_000).toFixed(1)} MB, to be opened in any browser.\n`)
  return exitCode.done
}
