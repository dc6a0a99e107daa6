import process from 'node:process'
import { type McpServerConfig, serveMcp } from '@signalbox/mcp'
import { createTools } from '@signalbox/tools'
import { isSignalboxError } from 'signalbox'
import { serveInspector } from 'signalbox/inspect/server'
import type { PermissionMode } from 'signalbox/machines'
import { checkGivenRules } from '../run/check-given-rules.ts'
import { openServers, type Servers } from '../run/open-servers.ts'
import { usageError } from '../usage-error.ts'

export interface McpServeOptions {
  /** The folder that the tools may work in. */
  root: string
  /** HTTP options; stdio if undefined. */
  http?: { port?: number | undefined; host?: string | undefined; token?: string | undefined } | undefined
  /** Use only these tools. */
  tools?: readonly string[] | undefined
  /** Other servers, whose tools are served too. */
  servers?: Record<string, McpServerConfig> | undefined
  mode?: PermissionMode | undefined
  allow?: readonly string[] | undefined
  ask?: readonly string[] | undefined
  deny?: readonly string[] | undefined
  /** Also opens the inspector. */
  inspect?: boolean | undefined
}

/** Serves the tools over MCP until stopped, or until the client disconnects. Returns the exit code. */
export async function mcpServe(
  { root, http, tools: wanted, servers, inspect, ...permissions }: McpServeOptions,
  stopped: Promise<unknown>,
  tell: (text: string) => void = (text) => process.stderr.write(text),
): Promise<number> {
  const set = createTools({ root, ...(wanted !== undefined && !wanted.some(isShell) && { shell: false }) })
  const unknown = wanted?.find((name) => !set.tools.some((tool) => tool.name === name))
  if (unknown !== undefined) {
    tell(`Unknown tool ${unknown}. Known tools: ${set.tools.map(({ name }) => name).join(', ')}.\n`)
    await set.close()
    return 2
  }
  try {
    checkGivenRules(permissions, set.tools, tell)
  } catch (error) {
    await set.close()
    throw error
  }
  const inspector = inspect === true ? await serveInspector([]) : undefined
  let others: Servers | undefined
  try {
    others = servers && (await openServers(servers, (connection) => void inspector?.add(connection), tell))
    const server = await serveMcp({
      tools: [...set.tools.filter(({ name }) => wanted?.includes(name) !== false), ...(others?.tools() ?? [])],
      permissions,
      transport: http === undefined ? 'stdio' : { http },
      onExecutor: (executor) => void inspector?.add(executor),
    }).catch((error: unknown) => {
      if (isSignalboxError(error)) throw error
      throw usageError(`The server cannot listen: ${(error as Error).message}`, error)
    })
    // with stdio, stdout belongs to the protocol: texts for people go to stderr
    tell(`${server.url === undefined ? 'Serving MCP over stdio' : `Serving MCP at ${server.url}`}, for ${root}\n`)
    if (inspector !== undefined) tell(`The inspector is at ${inspector.url}\n`)
    await Promise.race([stopped, server.closed])
    await server.close()
    return 0
  } finally {
    await others?.close()
    await inspector?.close()
    await set.close()
  }
}

const isShell = (name: string): boolean => name.startsWith('Bash')
