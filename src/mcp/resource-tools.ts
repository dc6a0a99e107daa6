import { z } from 'zod'
import { type PermissionRule, parseRule } from '../permission/permission-rule.ts'
import { isRecord } from '../text/is-record.ts'
import { defineTool } from '../tool/define-tool.ts'
import type { ToolCheck } from '../tool/permission.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import { toolError } from '../workspace/tool-error.ts'
import { isTooDeep } from './is-too-deep.ts'
import type { Asker } from './mcp-tool.ts'
import { readPages } from './read-tool-list.ts'
import { resourceBlock } from './result-content.ts'
import type { ServerLink } from './server-link.ts'

const listInput = z.object({ server: z.string().optional().describe('Only of this server') })
const readInput = z.object({
  server: z.string().describe('The server that has it'),
  uri: z.string().describe('As ListMcpResources tells it, or as a template of it says'),
})

const madeFor = new WeakMap<ServerLink, AnyTool[]>()

/** The two tools for what servers offer to be read, if one of them does. */
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
    description: 'Lists what the connected MCP servers offer to be read: resources, and templates of their addresses.',
    inputSchema: listInput,
    isConcurrencySafe: () => true,
    isReadOnly: () => true,
    describe: ({ server }) => server ?? '',
    matchesRule: (spec, { server }) => server === spec,
    checkPermissions: ({ server }, context) =>
      checkServers(server === undefined ? links : [linkOf(links, server)], context),
    async call({ server }, { abortController: { signal }, toolUseID }) {
      const asked = server === undefined ? links : [linkOf(links, server)]
      const by = { signal, toolUseID }
      const lists = await Promise.all(asked.map((link) => listOf(link, by, server !== undefined)))
      return { data: lists.filter((text) => text !== '').join('\n\n') || 'No server has anything to read.' }
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
    checkPermissions: ({ server }, context) => checkServers([linkOf(links, server)], context),
    async call({ server, uri }, { abortController: { signal }, toolUseID }, _ask, _message, onProgress) {
      const by = { signal, toolUseID, onProgress }
      const { contents } = await linkOf(links, server).request('resources/read', { uri }, by)
      const parts = Array.isArray(contents) ? contents.filter(isRecord).filter((part) => !isTooDeep(part)) : []
      if (parts.length === 0) throw toolError(`${server} sent nothing for ${uri}.`, 'McpError')
      return { data: { server, uri, contents: parts } }
    },
    mapResult: (data, id) => ({ type: 'tool_result', tool_use_id: id, content: data.contents.map(resourceBlock) }),
  })

function linkOf(links: readonly ServerLink[], server: string): ServerLink {
  const link = links.find(({ name, key }) => name === server || key === server)
  if (link !== undefined) return link
  throw toolError(
    `There is no server ${JSON.stringify(server)}; there are ${links.map(({ name }) => name).join(', ')}.`,
    'McpError',
  )
}

/** A rule for a whole server speaks of what it offers to be read, too. */
function checkServers(links: readonly ServerLink[], { permissions }: ToolUseContext): ToolCheck | undefined {
  const speaks = (behavior: 'deny' | 'ask' | 'allow'): PermissionRule | undefined => {
    const rules = (permissions?.[behavior] ?? []).map((rule) => parseRule(rule))
    const named = rules.filter(({ server }) => links.some(({ key }) => key === server))
    // an allow has to speak of every server that is asked
    return behavior === 'allow' && !links.every(({ key }) => named.some(({ server }) => server === key))
      ? undefined
      : named[0]
  }
  for (const behavior of ['deny', 'ask', 'allow'] as const) {
    const rule = speaks(behavior)
    if (rule !== undefined) return { behavior, message: `The rule ${JSON.stringify(rule.text)} says so.` }
  }
  return undefined
}

async function listOf(link: ServerLink, by: Asker, isAsked: boolean): Promise<string> {
  try {
    const session = isAsked ? await link.ready(by) : link.session
    if (session?.hasResources !== true) return isAsked ? `${link.name} has nothing to read.` : ''
    const all = (method: string, key: string) =>
      readPages(
        (params) => link.request(method, params, by),
        key,
        () => undefined,
      ).catch((error: unknown) => {
        if (method === 'resources/list') throw error
        // templates are a further offer, which not every server makes
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
    if (isAsked || by.signal.aborted) throw error
    return `${link.name}: its list could not be read. ${error instanceof Error ? error.message : ''}`
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
