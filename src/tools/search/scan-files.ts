import { Worker } from 'node:worker_threads'
import { nodeFileSystem } from '../../workspace/node-file-system.ts'
import { toolError } from '../../workspace/tool-error.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { type FileMatch, type FoundMatches, maxFileBytes, maxLineChars, type Search } from './match.ts'
import { readBatch } from './read-batch.ts'
import { readTextNow } from './read-text-now.ts'
import { type ScanRequest, scanBatch } from './scan-batch.ts'
import { textScanner } from './scan-text.ts'

const batchFiles = 64
const source = `
const { parentPort } = require('node:worker_threads')
const tools = { fs: require('node:fs'), readTextNow: ${readTextNow}, textScanner: ${textScanner} }
const scanBatch = ${scanBatch}
parentPort.on('message', (request) => {
  try { parentPort.postMessage({ matches: scanBatch(request, tools) }) }
  catch (error) { parentPort.postMessage({ problem: String(error && error.message) }) }
})`

/**
 * Looks through files without ripgrep, in their order, and keeps so many lines. The pattern runs in a thread that can be
 * ended. Files of this machine are read there too; those of another file system are read here.
 */
export async function scanFiles(
  workspace: Workspace,
  paths: readonly string[],
  search: Search,
  maxLines: number,
  signal: AbortSignal,
): Promise<FoundMatches> {
  if (paths.length === 0) return { matches: [], isCut: false }
  const worker = new Worker(source, { eval: true, env: {}, stdin: false })
  const scan = (batch: Pick<ScanRequest, 'paths' | 'texts' | 'maxLines'>): Promise<FileMatch[]> =>
    ask(worker, { search, maxFileBytes, maxLineChars, ...batch }, signal)
  try {
    if (workspace.fileSystem === nodeFileSystem) return { matches: await scan({ paths, maxLines }), isCut: false }
    // a pattern that cannot be read is known before any file is
    await scan({ paths: [], maxLines })
    const matches: FileMatch[] = []
    let kept = 0
    // one batch is read while the one before it is looked through
    let next = readBatch(workspace, paths.slice(0, batchFiles))
    for (let from = 0; from < paths.length; from += batchFiles) {
      const files = await next
      signal.throwIfAborted()
      next = readBatch(workspace, paths.slice(from + batchFiles, from + 2 * batchFiles))
      const found = await scan({
        paths: files.map(({ path }) => path),
        texts: files.map(({ text }) => text),
        maxLines: maxLines - kept,
      })
      for (const { lines } of found) kept += lines.length
      matches.push(...found)
    }
    return { matches, isCut: false }
  } finally {
    await worker.terminate()
  }
}

function ask(worker: Worker, request: ScanRequest, signal: AbortSignal): Promise<FileMatch[]> {
  return new Promise((resolve, reject) => {
    const stop = (): void => settle(() => reject(signal.reason))
    const fail = (error: unknown): void => settle(() => reject(error))
    const answer = (given: { matches: FileMatch[] } | { problem: string }): void =>
      settle(() => {
        if ('matches' in given) resolve(given.matches)
        else reject(toolError(`The pattern cannot be read: ${given.problem}`, 'Pattern'))
      })
    const settle = (how: () => void): void => {
      signal.removeEventListener('abort', stop)
      worker.off('error', fail).off('message', answer)
      how()
    }
    if (signal.aborted) return reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    worker.once('error', fail).once('message', answer)
    worker.postMessage(request)
  })
}
