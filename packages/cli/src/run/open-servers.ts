import type { McpConnection, McpServerConfig } from '@signalbox/mcp'
import type { AnyTool } from 'signalbox'
import type { Io } from '../io.ts'
import { cleanLine } from '../view/clean-text.ts'

export interface Servers {
  /** The current tools: a server may add or remove some later. */
  tools(): readonly AnyTool[]
  close(): Promise<void>
}

/** Connects; observers get each connection before it opens. */
export type OpenServers = (onConnection: (connection: McpConnection) => void) => Promise<Servers>

export async function readServers(path: string, { env }: Io): Promise<Record<string, McpServerConfig>> {
  const { readMcpConfig } = await import('@signalbox/mcp')
  return readMcpConfig(path, env)
}

/** The MCP servers of a file. A failing server is reported, and loses only its own tools. */
export async function openServers(
  servers: Record<string, McpServerConfig>,
  onConnection: (connection: McpConnection) => void,
  tell: (text: string) => void,
): Promise<Servers> {
  const { connectMcp } = await import('@signalbox/mcp')
  const mcp = await connectMcp({ servers, onConnection })
  for (const { name, state, problem } of mcp.servers()) {
    // both may contain untrusted text
    if (state !== 'ready')
      tell(`signalbox: the MCP server ${cleanLine(name)} is not connected: ${cleanLine(problem ?? state)}\n`)
  }
  return { tools: () => mcp.tools(), close: () => mcp.close() }
}
