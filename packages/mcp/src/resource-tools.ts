import {
  type AnyTool,
  defineTool,
  type PermissionRule,
  parseRule,
  type ToolCheck,
  type ToolUseContext,
  toolError,
} from 'signalbox'
import { z } from 'zod'
import type { Asker } from './mcp-tool.ts'
import { isRecord, isTooDeep } from './plain-values.ts'
import { progressReport } from './progress-report.ts'
import { readPages } from './read-tool-list.ts'
import { resourceBlock } from './result-content.ts'
import type { ServerLink } from './server-link.ts'

const listInput = z.object({ server: z.string().optional().describe('List only the resources of this server') })
const readInput = z.object({
  server: z.string().describe('The server that has the resource'),
  uri: z.string().describe('The URI from ListMcpResources, or one built from a template'),
})

const madeFor = new WeakMap<ServerLink, AnyTool[]>()

/** The two tools for MCP resources, if a server has any. */
export function resourceTools(links: readonly ServerLink[]): AnyTool[] {
  const [first] = links
  if (first === undefined || !links.some(({ session }) => session?.hasResources === true)) return []
  const tools = madeFor.get(first) ?? [listTool(links) as AnyTool, readTool(links) as AnyTool]
  madeFor.set(first, tools)
  return tools
}

const listTool = (links: readonly ServerLink[]) =>
  defineTool({
    name: 'ListMcpResources',
    description: 'Lists the resources and URI templates of the connected MCP servers.',
    inputSchema: listInput,
    isConcurrencySafe: () => true,
    isReadOnly: () => true,
    describe: ({ server }) => server ?? '',
    matchesRule: (spec, { server }) => server === spec,
    exactRule: ({ server }) => server,
    checkPermissions: ({ server }, context) =>
      checkServers(server === undefined ? links : [linkOf(links, server)], context),
    async call({ server }, { abortController: { signal }, toolUseID }) {
      const asked = server === undefined ? links : [linkOf(links, server)]
      const by = { signal, toolUseID }
      const lists = await Promise.all(asked.map((link) => listOf(link, by, server !== undefined)))
      const data = lists.filter((text) => text !== '').join('\n\n') || 'No server has resources.'
      return signal.aborted ? { data, interrupted: true } : { data }
    },
  })

const readTool = (links: readonly ServerLink[]) =>
  defineTool({
    name: 'ReadMcpResource',
    description: 'Reads a resource of an MCP server.',
    inputSchema: readInput,
    isConcurrencySafe: () => true,
    isReadOnly: () => true,
    describe: ({ server, uri }) => `${server} ${uri}`,
    matchesRule: (spec, { server, uri }) =>
      spec === server ||
      spec === `${server}:${uri}` ||
      (spec.endsWith('*') && `${server}:${uri}`.startsWith(spec.slice(0, -1))),
    // a star at its end would match more
    exactRule: ({ server, uri }) => (uri.endsWith('*') ? undefined : `${server}:${uri}`),
    checkPermissions: ({ server }, context) => checkServers([linkOf(links, server)], context),
    async call({ server, uri }, { abortController: { signal }, toolUseID }, _ask, _message, onProgress) {
      const progress = progressReport(signal, onProgress)
      const by = { signal, toolUseID, progress }
      let contents: unknown
      try {
        ;({ contents } = await linkOf(links, server).request('resources/read', { uri }, by))
      } catch (error) {
        const text = signal.aborted ? progress.whenStopped(server) : undefined
        if (text === undefined) throw error
        return { data: { server, uri, contents: [{ uri, text }] }, interrupted: true }
      }
      const parts = Array.isArray(contents) ? contents.filter(isRecord).filter((part) => !isTooDeep(part)) : []
      if (parts.length === 0) throw toolError(`${server} returned no content for ${uri}.`, 'McpError')
      return { data: { server, uri, contents: parts } }
    },
    mapResult: (data, id) => ({ type: 'tool_result', tool_use_id: id, content: data.contents.map(resourceBlock) }),
  })

function linkOf(links: readonly ServerLink[], server: string): ServerLink {
  const link = links.find(({ name, key }) => name === server || key === server)
  if (link !== undefined) return link
  throw toolError(
    `Unknown server ${JSON.stringify(server)}. Known servers: ${links.map(({ name }) => name).join(', ')}.`,
    'McpError',
  )
}

/** A rule for a whole server also applies to its resources. */
function checkServers(links: readonly ServerLink[], { permissions }: ToolUseContext): ToolCheck | undefined {
  const speaks = (behavior: 'deny' | 'ask' | 'allow'): PermissionRule | undefined => {
    const rules = (permissions?.[behavior] ?? []).map((rule) => parseRule(rule))
    const named = rules.filter(({ server }) => links.some(({ key }) => key === server))
    // an allow must cover every server that is read
    return behavior === 'allow' && !links.every(({ key }) => named.some(({ server }) => server === key))
      ? undefined
      : named[0]
  }
  for (const behavior of ['deny', 'ask', 'allow'] as const) {
    const rule = speaks(behavior)
    if (rule !== undefined) return { behavior, message: `Matched the rule ${JSON.stringify(rule.text)}.` }
  }
  return undefined
}

async function listOf(link: ServerLink, by: Asker, isAsked: boolean): Promise<string> {
  try {
    const session = isAsked ? await link.ready(by) : link.session
    if (session?.hasResources !== true) return isAsked ? `${link.name} has no resources.` : ''
    const all = (method: string, key: string) =>
      readPages(
        (params) => link.request(method, params, by),
        key,
        () => undefined,
      ).catch((error: unknown) => {
        if (method === 'resources/list') throw error
        // templates are optional for a server
        return []
      })
    const resources = await all('resources/list', 'resources')
    const templates = await all('resources/templates/list', 'resourceTemplates')
    const lines = [
      ...resources.map((each) => lineFor(each, 'uri')),
      ...templates.map((each) => lineFor(each, 'uriTemplate')),
    ]
    return [`${link.name}:`, ...lines.filter((line) => line !== '')].join('\n')
  } catch (error) {
    if (by.signal.aborted) return `[Partial result: the call was stopped before ${link.name} answered.]`
    if (isAsked) throw error
    return `${link.name}: the list of resources could not be read. ${error instanceof Error ? error.message : ''}`
  }
}

function lineFor(item: unknown, key: 'uri' | 'uriTemplate'): string {
  if (!isRecord(item) || typeof item[key] !== 'string') return ''
  const { name, description, mimeType } = item
  const more = [name, mimeType, description].filter(
    (each) => typeof each === 'string' && each !== '' && each !== item[key],
  )
  return `- ${item[key]}${key === 'uri' ? '' : ' (a template)'}${more.length === 0 ? '' : `: ${more.join(', ')}`}`
}
