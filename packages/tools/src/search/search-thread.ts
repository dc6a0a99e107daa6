import { Worker } from 'node:worker_threads'
import { confirmBatch } from './confirm-batch.ts'
import { decodeText } from './decode-text.ts'
import type { FileMatch } from './match.ts'
import { maxFileBytes } from './match.ts'
import { readBytesNow } from './read-bytes-now.ts'
import { type ScanRequest, scanBatch } from './scan-batch.ts'
import { textScanner } from './scan-text.ts'

const source = `
const { parentPort } = require('node:worker_threads')
const readBytesNow = ${readBytesNow}
const decodeText = ${decodeText}
const textScanner = ${textScanner}
const tools = { fs: require('node:fs'), readBytesNow, decodeText, textScanner }
const work = { scan: ${scanBatch}, confirm: ${confirmBatch} }
parentPort.on('message', ({ what, request }) => {
  try { parentPort.postMessage({ done: work[what](request, tools) }) }
  catch (error) { parentPort.postMessage({ problem: String(error && error.message) }) }
})`

/** A thread that reads files and matches patterns. Both may take for ever; a thread can be terminated. */
export interface SearchThread {
  scan(request: ScanRequest): Promise<FileMatch[]>
  /** One result per file. */
  confirm(found: readonly FileMatch[]): Promise<boolean[]>
  end(): Promise<unknown>
}

export function startSearchThread(signal: AbortSignal): SearchThread {
  const worker = new Worker(source, { eval: true, env: {}, stdin: false })
  return {
    scan: (request) => ask(worker, { what: 'scan', request }, signal),
    confirm: (found) => ask(worker, { what: 'confirm', request: { found, maxFileBytes } }, signal),
    end: () => worker.terminate(),
  }
}

function ask<Done>(worker: Worker, message: unknown, signal: AbortSignal): Promise<Done> {
  return new Promise((resolve, reject) => {
    const stop = (): void => settle(() => reject(signal.reason))
    const fail = (error: unknown): void => settle(() => reject(error))
    const answer = (given: { done: Done } | { problem: string }): void =>
      settle(() => ('done' in given ? resolve(given.done) : reject(new Error(given.problem))))
    const settle = (how: () => void): void => {
      signal.removeEventListener('abort', stop)
      worker.off('error', fail).off('message', answer)
      how()
    }
    if (signal.aborted) return reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    worker.once('error', fail).once('message', answer)
    worker.postMessage(message)
  })
}
