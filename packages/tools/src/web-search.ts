import { defineTool, type Tool, toolError } from 'signalbox'
import { z } from 'zod'

export interface SearchHit {
  title: string
  url: string
  text?: string | undefined
}

/** The host's implementation of web search. */
export type SearchWeb = (
  query: string,
  how: { signal: AbortSignal; allowedDomains?: string[] | undefined; blockedDomains?: string[] | undefined },
) => Promise<readonly SearchHit[]>

const inputSchema = z.object({
  query: z.string().min(2).describe('The search query'),
  allowed_domains: z.array(z.string()).optional().describe('Return only results from these domains'),
  blocked_domains: z.array(z.string()).optional().describe('Omit results from these domains'),
})

const maxHits = 20

/** Searches the web through the host's `searchWeb`. */
export function webSearchTool(search?: SearchWeb): Tool<typeof inputSchema, SearchHit[]> {
  return defineTool({
    name: 'WebSearch',
    description: 'Searches the web. Returns titles, URLs and excerpts.',
    inputSchema,
    isConcurrencySafe: () => true,
    isReadOnly: () => true,
    interruptBehavior: () => 'cancel',
    describe: ({ query }) => query,
    async call({ query, allowed_domains, blocked_domains }, { abortController }): Promise<{ data: SearchHit[] }> {
      if (search === undefined) {
        throw toolError(
          'Web search is not configured: the host must pass `searchWeb`. Continue without web search.',
          'NoSearch',
        )
      }
      const hits = await search(query, {
        signal: abortController.signal,
        allowedDomains: allowed_domains,
        blockedDomains: blocked_domains,
      })
      return { data: hits.slice(0, maxHits) }
    },
    mapResult: (hits, id) => ({ type: 'tool_result', tool_use_id: id, content: textOf(hits) }),
  })
}

function textOf(hits: readonly SearchHit[]): string {
  if (hits.length === 0) return 'No results.'
  return hits.map(({ title, url, text }) => `${title}\n${url}${text === undefined ? '' : `\n${text}`}`).join('\n\n')
}
