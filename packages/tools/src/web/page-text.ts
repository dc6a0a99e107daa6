import { toolError } from 'signalbox'
import type { Page } from './fetch-page.ts'
import { toMarkdown } from './to-markdown.ts'

const textual = /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|javascript|yaml|toml|x-ndjson|x-sh)\b)/i
const maxHtmlChars = 1_000_000

/** The text of a page: HTML as Markdown, other text unchanged. */
export async function pageText(
  { bytes, contentType, url, isCut, isStopped }: Page,
  signal: AbortSignal,
): Promise<string> {
  const kind = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (kind !== '' && !textual.test(kind)) {
    throw toolError(`${url} is ${kind} (${bytes.length} bytes), which cannot be shown as text.`, 'BinaryPage')
  }
  const text = decode(bytes, contentType, kind, isCut || isStopped === true)
  if (text.includes('\0')) throw toolError(`${url} is binary data, which cannot be shown as text.`, 'BinaryPage')
  const isHtml = kind === 'text/html' || kind === 'application/xhtml+xml' || (kind === '' && /^\s*</.test(text))
  return isHtml ? toMarkdown(text.slice(0, maxHtmlChars), url, signal) : text
}

/** From the header, else from a byte order mark, else from a declaration at the start of the page. */
function decode(bytes: Uint8Array, contentType: string, kind: string, isPart: boolean): string {
  const isMarkup = kind === '' || /html|xml/.test(kind)
  const charset = charsetOf(contentType) ?? markOf(bytes) ?? (isMarkup ? metaCharset(bytes) : undefined) ?? 'utf-8'
  try {
    // a part may end in the middle of a character
    return new TextDecoder(charset).decode(bytes, { stream: isPart })
  } catch {
    return new TextDecoder('utf-8').decode(bytes, { stream: isPart })
  }
}

const charsetOf = (text: string): string | undefined => /charset\s*=\s*["']?\s*([\w:.-]+)/i.exec(text)?.[1]

function markOf([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}

/** `<meta charset=…>`, `<meta http-equiv=… content="…; charset=…">`, `<?xml encoding=…?>`. */
function metaCharset(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 4_096))
    .toString('latin1')
    .replace(/<!--.*?-->/gs, '')
  const metas = start.match(/<meta\s[^>]*>/gi) ?? []
  const said = metas.map(charsetOf).find((name) => name !== undefined)
  const name = said ?? /<\?xml[^>]*\sencoding\s*=\s*["']([\w.-]+)/i.exec(start)?.[1]
  // a declaration that could be read as ASCII cannot be UTF-16
  return name !== undefined && /^utf-?16/i.test(name) ? 'utf-8' : name
}
