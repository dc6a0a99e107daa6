import { z } from 'zod'
import type { Opinion } from '../../machines/index.ts'
import { classifyToolError } from '../errors/classify-tool-error.ts'
import { defineTool } from '../tool/define-tool.ts'
import type { Tool } from '../tool/tool.ts'
import { toolError } from '../workspace/tool-error.ts'
import { fetchPage, type Page, readUrl } from './web/fetch-page.ts'
import { pageText } from './web/page-text.ts'

export interface WebFetchOptions {
  /**
   * Whether addresses of this machine and its network may be fetched: all, none, or those hosts for which this says so.
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
}

const inputSchema = z.object({ url: z.string().describe('An http or https address') })
const passing = new Set(['ECONNRESET', 'ETIMEDOUT', 'EAI_AGAIN', 'EPIPE'])

/** Fetches a page: HTML as Markdown, other text as it is. */
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
    description: 'Fetches a page from the web and gives it back as Markdown, or as it is where it is not HTML.',
    inputSchema,
    isConcurrencySafe: () => true,
    isReadOnly: () => true,
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
    async call({ url }, { abortController }): Promise<{ data: WebFetchData }> {
      const late = AbortSignal.timeout(timeoutMs)
      const signal = AbortSignal.any([abortController.signal, late])
      try {
        const page = await fetchPage(url, { maxBytes, allowPrivate, signal })
        return { data: await dataOf(page, maxChars, signal) }
      } catch (error) {
        if (late.aborted) throw toolError(`${url} took longer than ${timeoutMs} ms.`, 'Timeout')
        throw error
      }
    },
    mapResult: ({ url, status, text, redirectsTo }, id) => ({
      type: 'tool_result',
      tool_use_id: id,
      content:
        redirectsTo === undefined
          ? text
          : `${url} redirects to another host: ${redirectsTo}\nFetch that address if you want to follow it.`,
      ...(status >= 400 && { is_error: true }),
    }),
  })
}

async function dataOf(page: Page, maxChars: number, signal: AbortSignal): Promise<WebFetchData> {
  const { url, status, redirectsTo } = page
  if (redirectsTo !== undefined) return { url, status, text: '', redirectsTo }
  const text = await pageText(page, signal)
  const isLong = page.isCut || text.length > maxChars
  const head = status >= 400 ? `[${url} answered with status ${status}]\n` : ''
  return {
    url,
    status,
    text: `${head}${text.slice(0, maxChars)}${isLong ? '\n[The page goes on; the rest was left out.]' : ''}`,
  }
}

/** `domain:example.com` speaks of that host and those below it; without `domain:` it means the same. */
function matchesDomain(spec: string, address: string, behavior: Opinion): boolean {
  const domain = spec
    .trim()
    .replace(/^domain:/, '')
    .replace(/^\*\./, '')
    .toLowerCase()
  let host: string
  try {
    host = readUrl(address).hostname.toLowerCase().replace(/\.$/, '')
  } catch {
    return behavior !== 'allow'
  }
  if (domain === '*') return true
  return host === domain || host.endsWith(`.${domain}`)
}
