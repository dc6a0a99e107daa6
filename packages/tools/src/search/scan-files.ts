import { nodeFileSystem } from '../workspace/node-file-system.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { toJavaScript } from './dialect/to-javascript.ts'
import { type FileMatch, type FoundMatches, maxFileBytes, maxLineChars, type Search } from './match.ts'
import { type FileText, readBatch } from './read-batch.ts'
import type { ScanRequest } from './scan-batch.ts'
import { startSearchThread } from './search-thread.ts'

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
  const scan = (batch: Pick<ScanRequest, 'paths' | 'texts' | 'maxLines'>): Promise<FileMatch[]> =>
    thread.scan({ search, pattern, maxFileBytes, maxLineChars, ...batch })
  try {
    if (workspace.fileSystem === nodeFileSystem) return { matches: await scan({ paths, maxLines }), isCut: false }
    const matches: FileMatch[] = []
    let kept = 0
    // one batch is read while the previous one is scanned
    let next = readBatch(workspace, paths.slice(0, batchFiles))
    for (let from = 0; from < paths.length; from += batchFiles) {
      const files = await next
      signal.throwIfAborted()
      next = readBatch(workspace, paths.slice(from + batchFiles, from + 2 * batchFiles))
      const found = await scan({ ...inColumns(files), maxLines: maxLines - kept })
      for (const { lines } of found) kept += lines.length
      matches.push(...found)
    }
    return { matches, isCut: false }
  } finally {
    await thread.end()
  }
}

const inColumns = (files: readonly FileText[]): Pick<ScanRequest, 'paths' | 'texts'> => ({
  paths: files.map(({ path }) => path),
  texts: files.map(({ text }) => text),
})
