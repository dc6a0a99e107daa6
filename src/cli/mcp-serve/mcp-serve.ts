import process from 'node:process'
import type { PermissionMode } from '../../../machines/index.ts'
import { isSignalboxError } from '../../index.ts'
import { serveInspector } from '../../inspect-server/index.ts'
import { type McpServerConfig, serveMcp } from '../../mcp/index.ts'
import { createTools } from '../../tools/index.ts'
import { openServers, type Servers } from '../run/open-servers.ts'
import { usageError } from '../usage-error.ts'

export interface McpServeOptions {
  /** The folder that the tools may work in. */
  root: string
  /** Over HTTP; over the input and output of the process otherwise. */
  http?: { port?: number | undefined; host?: string | undefined; token?: string | undefined } | undefined
  /** Only these tools. */
  tools?: readonly string[] | undefined
  /** Other servers, whose tools are offered as well. */
  servers?: Record<string, McpServerConfig> | undefined
  mode?: PermissionMode | undefined
  allow?: readonly string[] | undefined
  ask?: readonly string[] | undefined
  deny?: readonly string[] | undefined
  /** Opens the inspector beside it. */
  inspect?: boolean | undefined
}

/** Serves our tools as an MCP server until it is stopped, or its client is gone. Gives back the exit code. */
export async function mcpServe(
  { root, http, tools: wanted, servers, inspect, ...permissions }: McpServeOptions,
  stopped: Promise<unknown>,
  tell: (text: string) => void = (text) => process.stderr.write(text),
): Promise<number> {
  const set = createTools({ root, ...(wanted !== undefined && !wanted.some(isShell) && { shell: false }) })
  const unknown = wanted?.find((name) => !set.tools.some((tool) => tool.name === name))
  if (unknown !== undefined) {
    tell(`There is no tool ${unknown}; there are ${set.tools.map(({ name }) => name).join(', ')}.\n`)
    await set.close()
    return 2
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
      throw usageError(`It cannot listen: ${(error as Error).message}`, error)
    })
    // over stdio the output belongs to the protocol: what people shall read goes to the other channel
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
