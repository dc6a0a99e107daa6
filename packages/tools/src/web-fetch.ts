import { domainToASCII } from 'node:url'
import { classifyToolError, defineTool, type Tool, type ToolResult, toolError } from 'signalbox'
import type { PermissionBehavior } from 'signalbox/machines'
import { z } from 'zod'
import { deadline, finishingTime, type StoppedBy } from './deadline.ts'
import { fetchPage, type Page, readUrl } from './web/fetch-page.ts'
import { pageText } from './web/page-text.ts'

export interface WebFetchOptions {
  /**
   * Whether addresses of this machine and its network may be fetched: all, none, or the hosts this function accepts.
   * @default false
   */
  allowPrivateAddresses?: boolean | ((host: string) => boolean) | undefined
  /** @default 5_000_000 */
  maxBytes?: number | undefined
  /** @default 30_000 */
  timeoutMs?: number | undefined
  /** @default 100_000 */
  maxChars?: number | undefined
}

export interface WebFetchData {
  url: string
  status: number
  text: string
  redirectsTo?: string | undefined
  /** Set if the page did not arrive whole. */
  stoppedBy?: StoppedBy | undefined
}

const inputSchema = z.object({ url: z.string().describe('An http or https URL') })
const passing = new Set(['ECONNRESET', 'ETIMEDOUT', 'EAI_AGAIN', 'EPIPE'])

/** Fetches a page: HTML as Markdown, other text unchanged. */
export function webFetchTool(options: WebFetchOptions = {}): Tool<typeof inputSchema, WebFetchData> {
  const {
    allowPrivateAddresses: allowed = false,
    maxBytes = 5_000_000,
    timeoutMs = 30_000,
    maxChars = 100_000,
  } = options
  const allowPrivate = typeof allowed === 'function' ? allowed : () => allowed
  return defineTool({
    name: 'WebFetch',
    description: 'Fetches a web page. Returns HTML as Markdown and other text unchanged.',
    inputSchema,
    isConcurrencySafe: () => true,
    isReadOnly: () => true,
    resources: ({ url }) => ({ reads: [`url:${url}`] }),
    interruptBehavior: () => 'cancel',
    describe: ({ url }) => url,
    retry: { attempts: 2, backoffMs: 500, when: (error) => passing.has(classifyToolError(error)) },
    maxResultSizeChars: maxChars + 1_000,
    validateInput({ url }) {
      try {
        readUrl(url)
        return { result: true }
      } catch (error) {
        return { result: false, message: (error as Error).message }
      }
    },
    matchesRule: (spec, { url }, _context, behavior) => matchesDomain(spec, url, behavior),
    exactRule: ({ url }) => `url:${url}`,
    async call({ url }, { abortController }): Promise<ToolResult<WebFetchData>> {
      const limit = deadline(abortController.signal, timeoutMs)
      const finishing = finishingTime(limit.signal)
      try {
        const page = await fetchPage(url, { maxBytes, allowPrivate, signal: limit.signal })
        const stoppedBy = page.isStopped === true ? limit.stoppedBy : undefined
        const data = await dataOf(page, maxChars, finishing.signal)
        if (stoppedBy === undefined) return { data }
        const text = `${stopNote(stoppedBy, page.bytes.length, timeoutMs)}\n${data.text}`
        return { data: { ...data, text, stoppedBy }, interrupted: true }
      } catch (error) {
        if (limit.stoppedBy === 'timeout') throw toolError(`${url} timed out after ${timeoutMs} ms.`, 'Timeout')
        throw error
      } finally {
        finishing.clear()
        limit.clear()
      }
    },
    mapResult: ({ url, status, text, redirectsTo, stoppedBy }, id) => ({
      type: 'tool_result',
      tool_use_id: id,
      content:
        redirectsTo === undefined
          ? text
          : `${url} redirects to another host: ${redirectsTo}\nTo follow the redirect, fetch that URL.`,
      ...((status >= 400 || stoppedBy !== undefined) && { is_error: true }),
    }),
  })
}

const stopNote = (stoppedBy: StoppedBy, bytes: number, timeoutMs: number): string =>
  `[Partial result: the fetch ${stoppedBy === 'timeout' ? `timed out after ${timeoutMs} ms` : 'was stopped'}. Only the first ${bytes} bytes of the page arrived.]`

async function dataOf(page: Page, maxChars: number, signal: AbortSignal): Promise<WebFetchData> {
  const { url, status, redirectsTo } = page
  if (redirectsTo !== undefined) return { url, status, text: '', redirectsTo }
  const text = await pageText(page, signal)
  const isLong = page.isCut || text.length > maxChars
  const head = status >= 400 ? `[${url} returned status ${status}]\n` : ''
  return {
    url,
    status,
    text: `${head}${text.slice(0, maxChars)}${isLong ? '\n[The rest of the page was truncated.]' : ''}`,
  }
}

/**
 * `domain:example.com` matches that host and its subdomains; without `domain:` it means the same. `url:` matches one
 * URL exactly.
 */
function matchesDomain(spec: string, address: string, behavior: PermissionBehavior): boolean {
  if (spec.startsWith('url:')) return spec.slice(4) === address
  const domain = spec
    .trim()
    .replace(/^domain:/, '')
    .replace(/^\*\./, '')
  // bücher.example is fetched as xn--bcher-kva.example; an invalid host stays unchanged
  const ascii = domainToASCII(domain) || domain.toLowerCase()
  let host: string
  try {
    host = readUrl(address).hostname.toLowerCase().replace(/\.$/, '')
  } catch {
    return behavior !== 'allow'
  }
  if (domain === '*') return true
  return host === ascii || host.endsWith(`.${ascii}`)
}
