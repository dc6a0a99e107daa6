import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { missingPackage } from '../../workspace/optional-package.ts'

const maxMs = 5_000
const source = `
const { parentPort, workerData } = require('node:worker_threads')
const TurndownService = require(workerData.path)
const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' })
service.remove(['script', 'style', 'noscript', 'iframe', 'template', 'title'])
parentPort.postMessage(service.turndown(workerData.html).trim())`

/** HTML as Markdown. In a thread of its own, since a page can be made so that this takes for ever. */
export async function toMarkdown(html: string, signal: AbortSignal): Promise<string> {
  const worker = new Worker(source, { eval: true, workerData: { html, path: turndown() }, env: {} })
  const late = AbortSignal.any([signal, AbortSignal.timeout(maxMs)])
  try {
    return await new Promise<string>((resolve, reject) => {
      late.addEventListener('abort', () => reject(late.reason), { once: true })
      worker.once('message', resolve).once('error', reject)
    })
  } catch {
    signal.throwIfAborted()
    // too deep or too long for it: the bare text is better than nothing
    return bareText(html)
  } finally {
    await worker.terminate()
  }
}

function turndown(): string {
  try {
    return createRequire(import.meta.url).resolve('turndown')
  } catch (error) {
    throw missingPackage('turndown', error)
  }
}

/** All that is not a tag, in one pass. */
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
