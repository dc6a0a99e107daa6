import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { deadline } from '../deadline.ts'
import { addMarkdownRules } from './markdown-rules.ts'

const maxMs = 5_000
const source = `
const { parentPort, workerData } = require('node:worker_threads')
const TurndownService = require(workerData.path)
const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' })
service.remove(['script', 'style', 'noscript', 'iframe', 'template', 'title'])
;(${addMarkdownRules})(service, workerData.base)
parentPort.postMessage(service.turndown(workerData.html).trim())`

/** Converts HTML to Markdown in a worker thread, because a page can make this take for ever. On abort, returns the bare text. */
export async function toMarkdown(html: string, base: string, signal: AbortSignal): Promise<string> {
  const path = createRequire(import.meta.url).resolve('turndown')
  const worker = new Worker(source, { eval: true, workerData: { html, base, path }, env: {} })
  const limit = deadline(signal, maxMs)
  try {
    return await new Promise<string>((resolve, reject) => {
      const stop = (): void => reject(limit.signal.reason)
      if (limit.signal.aborted) stop()
      else limit.signal.addEventListener('abort', stop, { once: true })
      worker.once('message', resolve).once('error', reject)
    })
  } catch {
    // nested too deeply or too long for turndown, or stopped
    return bareText(html)
  } finally {
    limit.clear()
    await worker.terminate()
  }
}

/** Everything except tags, in one pass. */
function bareText(html: string): string {
  const lower = html.toLowerCase()
  const texts: string[] = []
  for (let at = 0; at >= 0 && at < html.length; ) {
    const open = html.indexOf('<', at)
    texts.push(html.slice(at, open < 0 ? undefined : open))
    if (open < 0) break
    const hidden = ['script', 'style'].find((name) => lower.startsWith(name, open + 1))
    const end = hidden === undefined ? open : lower.indexOf(`</${hidden}`, open)
    const close = end < 0 ? -1 : html.indexOf('>', end)
    at = close < 0 ? -1 : close + 1
  }
  return texts.join(' ').replace(/\s+/g, ' ').trim()
}
