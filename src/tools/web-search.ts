import { z } from 'zod'
import { defineTool } from '../tool/define-tool.ts'
import type { Tool } from '../tool/tool.ts'
import { toolError } from '../workspace/tool-error.ts'

export interface SearchHit {
  title: string
  url: string
  text?: string | undefined
}

/** How the host searches the web. */
export type SearchWeb = (
  query: string,
  how: { signal: AbortSignal; allowedDomains?: string[] | undefined; blockedDomains?: string[] | undefined },
) => Promise<readonly SearchHit[]>

const inputSchema = z.object({
  query: z.string().min(2).describe('What to search for'),
  allowed_domains: z.array(z.string()).optional().describe('Only results from these'),
  blocked_domains: z.array(z.string()).optional().describe('No results from these'),
})

const maxHits = 20

/** Searches the web, by the means that the host gives. */
export function webSearchTool(search?: SearchWeb): Tool<typeof inputSchema, SearchHit[]> {
  return defineTool({
    name: 'WebSearch',
    description: 'Searches the web and gives back titles, addresses and short texts.',
    inputSchema,
    isConcurrencySafe: () => true,
    isReadOnly: () => true,
    interruptBehavior: () => 'cancel',
    describe: ({ query }) => query,
    async call({ query, allowed_domains, blocked_domains }, { abortController }): Promise<{ data: SearchHit[] }> {
      if (search === undefined) {
        throw toolError('No search engine is set up here: the host has to give `searchWeb`. Do without it.', 'NoSearch')
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
  if (hits.length === 0) return 'Nothing was found.'
  return hits.map(({ title, url, text }) => `${title}\n${url}${text === undefined ? '' : `\n${text}`}`).join('\n\n')
}
