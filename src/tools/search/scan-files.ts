import { Worker } from 'node:worker_threads'
import { readWhole } from '../../workspace/read-whole.ts'
import { toolError } from '../../workspace/tool-error.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { type FileMatch, type FoundMatches, maxFileBytes, maxLineChars, type Search } from './match.ts'
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
    for (let from = 0; from < paths.length; from += batchFiles) {
      const files = await Promise.all(paths.slice(from, from + batchFiles).map((path) => textOf(workspace, path)))
      signal.throwIfAborted()
      const readable = files.filter((file) => file !== undefined)
      if (readable.length > 0) matches.push(...(await ask(worker, { search, files: readable, maxLineChars }, signal)))
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

/** Nothing for what is binary, too large, or not to be read. */
async function textOf(workspace: Workspace, path: string): Promise<{ path: string; text: string } | undefined> {
  const place = { ok: true, path, shown: path, exists: true } as const
  const whole = await readWhole(workspace, place, maxFileBytes).catch(() => undefined)
  if (whole === undefined || whole.bytes.includes(0)) return undefined
  return { path, text: Buffer.from(whole.bytes).toString('utf8') }
}
