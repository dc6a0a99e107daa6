import { Worker } from 'node:worker_threads'
import { toolError } from '../../workspace/tool-error.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { type FileMatch, type FoundMatches, maxLineChars, type Search } from './match.ts'
import { readBatch } from './read-batch.ts'
import { type ScanRequest, scanTexts } from './scan-text.ts'

const batchFiles = 64
const source = `
const { parentPort } = require('node:worker_threads')
const scanTexts = ${scanTexts.toString()}
parentPort.on('message', (request) => {
  try { parentPort.postMessage({ matches: scanTexts(request) }) }
  catch (error) { parentPort.postMessage({ problem: String(error && error.message) }) }
})`

/** Looks through files without ripgrep. The pattern runs in a thread that can be ended. */
export async function scanFiles(
  workspace: Workspace,
  paths: readonly string[],
  search: Search,
  signal: AbortSignal,
): Promise<FoundMatches> {
  if (paths.length === 0) return { matches: [], isCut: false }
  const worker = new Worker(source, { eval: true, env: {}, stdin: false })
  const matches: FileMatch[] = []
  try {
    // a pattern that cannot be read is known before any file is
    await ask(worker, { search, files: [], maxLineChars }, signal)
    // one batch is read while the one before it is looked through
    let next = readBatch(workspace, paths.slice(0, batchFiles))
    for (let from = 0; from < paths.length; from += batchFiles) {
      const files = await next
      signal.throwIfAborted()
      next = readBatch(workspace, paths.slice(from + batchFiles, from + 2 * batchFiles))
      if (files.length > 0) matches.push(...(await ask(worker, { search, files, maxLineChars }, signal)))
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
