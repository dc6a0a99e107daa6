import { Worker } from 'node:worker_threads'
import { decodeText, readBytesNow } from './file-bytes.ts'
import type { FileMatch } from './match.ts'
import { maxFileBytes } from './match.ts'
import { textScanner } from './scan-text.ts'
import { confirmBatch, type ScanRequest, scanBatch } from './thread-work.ts'

const source = `
const { parentPort } = require('node:worker_threads')
const readBytesNow = ${readBytesNow}
const decodeText = ${decodeText}
const textScanner = ${textScanner}
const report = (match) => parentPort.postMessage({ match })
const tools = { fs: require('node:fs'), readBytesNow, decodeText, textScanner, report }
const work = { scan: ${scanBatch}, confirm: ${confirmBatch} }
parentPort.on('message', ({ what, request }) => {
  try { parentPort.postMessage({ done: work[what](request, tools) }) }
  catch (error) { parentPort.postMessage({ problem: String(error && error.message) }) }
})`

/** The answer of a thread that was terminated. */
export const stopped = 'stopped'

/** A thread that reads files and matches patterns. Both may take for ever; a thread can be terminated. */
export interface SearchThread {
  /** Passes on each match that the thread reports while it works; the others come with the end. */
  scan(request: ScanRequest, onMatch: (match: FileMatch) => void): Promise<'done' | 'stopped'>
  /** One result per file. */
  confirm(found: readonly FileMatch[]): Promise<boolean[] | 'stopped'>
  end(): Promise<unknown>
}

type Answer<Done> = { match: FileMatch } | { done: Done } | { problem: string }

export function startSearchThread(signal: AbortSignal): SearchThread {
  const worker = new Worker(source, { eval: true, env: {}, stdin: false })
  return {
    async scan(request, onMatch) {
      const rest = await ask<FileMatch[]>(worker, { what: 'scan', request }, signal, onMatch)
      if (rest === 'stopped') return rest
      rest.forEach(onMatch)
      return 'done'
    },
    confirm: (found) => ask(worker, { what: 'confirm', request: { found, maxFileBytes } }, signal),
    end: () => worker.terminate(),
  }
}

function ask<Done>(
  worker: Worker,
  message: unknown,
  signal: AbortSignal,
  onMatch: (match: FileMatch) => void = () => undefined,
): Promise<Done | 'stopped'> {
  return new Promise((resolve, reject) => {
    const stop = (): void => settle(() => resolve(stopped))
    const fail = (error: unknown): void => settle(() => reject(error))
    const answer = (given: Answer<Done>): void => {
      if ('match' in given) onMatch(given.match)
      else settle(() => ('done' in given ? resolve(given.done) : reject(new Error(given.problem))))
    }
    const settle = (how: () => void): void => {
      signal.removeEventListener('abort', stop)
      worker.off('error', fail).off('message', answer)
      how()
    }
    if (signal.aborted) return resolve(stopped)
    signal.addEventListener('abort', stop, { once: true })
    worker.once('error', fail).on('message', answer)
    worker.postMessage(message)
  })
}
