import { toolError } from '../../workspace/tool-error.ts'
import type { Page } from './fetch-page.ts'
import { toMarkdown } from './to-markdown.ts'

const textual = /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|javascript|yaml|toml|x-ndjson|x-sh)\b)/i
const maxHtmlChars = 1_000_000

/** The text of a page: HTML as Markdown, other text as it is. */
export async function pageText({ bytes, contentType, url }: Page, signal: AbortSignal): Promise<string> {
  const kind = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (kind !== '' && !textual.test(kind)) {
    throw toolError(`${url} is ${kind} (${bytes.length} bytes), which cannot be shown as text.`, 'BinaryPage')
  }
  const text = decode(bytes, contentType)
  if (text.includes('\0')) throw toolError(`${url} is binary data, which cannot be shown as text.`, 'BinaryPage')
  const isHtml = kind === 'text/html' || kind === 'application/xhtml+xml' || (kind === '' && /^\s*</.test(text))
  return isHtml ? toMarkdown(text.slice(0, maxHtmlChars), signal) : text
}

function decode(bytes: Uint8Array, contentType: string): string {
  const charset = /charset\s*=\s*"?([\w-]+)/i.exec(contentType)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return new TextDecoder('utf-8').decode(bytes)
  }
}
