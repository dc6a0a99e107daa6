import { nodeFileSystem } from '../workspace/node-file-system.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { toJavaScript } from './dialect/to-javascript.ts'
import { type FileMatch, type FoundMatches, maxFileBytes, maxLineChars, type Search } from './match.ts'
import { type FileText, readBatch } from './read-batch.ts'
import { startSearchThread, stopped } from './search-thread.ts'
import type { ScanRequest } from './thread-work.ts'

const batchFiles = 64

/**
 * Searches files without ripgrep, in order, up to a number of lines. The pattern runs in a thread that can be
 * terminated. The thread also reads local files; those of another file system are read here.
 */
export async function scanFiles(
  workspace: Workspace,
  paths: readonly string[],
  search: Search,
  maxLines: number,
  signal: AbortSignal,
): Promise<FoundMatches> {
  // an invalid pattern is reported before any file is read
  const pattern = toJavaScript(search.pattern, search.ignoreCase, search.multiline)
  if (paths.length === 0) return { matches: [], isCut: false }
  const thread = startSearchThread(signal)
  const matches: FileMatch[] = []
  let kept = 0
  const keep = (match: FileMatch): void => {
    kept += match.lines.length
    matches.push(match)
  }
  const scan = (batch: Pick<ScanRequest, 'paths' | 'texts' | 'maxLines'>): Promise<'done' | 'stopped'> =>
    thread.scan({ search, pattern, maxFileBytes, maxLineChars, ...batch }, keep)
  try {
    if (workspace.fileSystem === nodeFileSystem) {
      return { matches, isCut: false, isStopped: (await scan({ paths, maxLines })) === 'stopped' }
    }
    // one batch is read while the previous one is scanned
    let next = readBatch(workspace, paths.slice(0, batchFiles))
    for (let from = 0; from < paths.length; from += batchFiles) {
      const files = await unlessStopped(next, signal)
      if (files === 'stopped') return { matches, isCut: false, isStopped: true }
      next = readBatch(workspace, paths.slice(from + batchFiles, from + 2 * batchFiles))
      const end = await scan({ ...inColumns(files), maxLines: maxLines - kept })
      if (end === 'stopped') return { matches, isCut: false, isStopped: true }
    }
    return { matches, isCut: false }
  } finally {
    await thread.end()
  }
}

/** Another file system may be slow to answer. */
async function unlessStopped<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value | 'stopped'> {
  if (signal.aborted) return 'stopped'
  let stop = (): void => undefined
  const whenStopped = new Promise<typeof stopped>((resolve) => {
    stop = () => resolve(stopped)
  })
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([value, whenStopped])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

const inColumns = (files: readonly FileText[]): Pick<ScanRequest, 'paths' | 'texts'> => ({
  paths: files.map(({ path }) => path),
  texts: files.map(({ text }) => text),
})
