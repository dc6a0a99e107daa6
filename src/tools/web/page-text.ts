import { optionalPackage } from '../../workspace/optional-package.ts'
import { toolError } from '../../workspace/tool-error.ts'
import type { Page } from './fetch-page.ts'

const textual = /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|javascript|yaml|toml|x-ndjson|x-sh)\b)/i
const maxHtmlChars = 1_000_000

/** The text of a page: HTML as Markdown, other text as it is. */
export async function pageText({ bytes, contentType, url }: Page): Promise<string> {
  const kind = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (kind !== '' && !textual.test(kind)) {
    throw toolError(`${url} is ${kind} (${bytes.length} bytes), which cannot be shown as text.`, 'BinaryPage')
  }
  const text = decode(bytes, contentType)
  if (text.includes('\0')) throw toolError(`${url} is binary data, which cannot be shown as text.`, 'BinaryPage')
  const isHtml = kind === 'text/html' || kind === 'application/xhtml+xml' || (kind === '' && /^\s*</.test(text))
  return isHtml ? toMarkdown(text.slice(0, maxHtmlChars)) : text
}

function decode(bytes: Uint8Array, contentType: string): string {
  const charset = /charset\s*=\s*"?([\w-]+)/i.exec(contentType)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return new TextDecoder('utf-8').decode(bytes)
  }
}

async function toMarkdown(html: string): Promise<string> {
  const { default: TurndownService } = await optionalPackage('turndown', () => import('turndown'))
  const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' })
  service.remove(['script', 'style', 'noscript', 'iframe', 'template', 'head'] as never)
  try {
    return service.turndown(html).trim()
  } catch {
    // nested too deep for it: the bare text is better than nothing
    return html
      .replace(/<(script|style)\b[\s\S]*?<\/\1\s*>/gi, ' ')
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim()
  }
}
