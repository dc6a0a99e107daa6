import type { AnyTool } from '../../index.ts'
import type { McpConnection, McpServerConfig } from '../../mcp/index.ts'
import type { Io } from '../io.ts'
import { cleanLine } from '../view/clean-text.ts'

export interface Servers {
  /** As they are now: a server may bring others later, or be gone. */
  tools(): readonly AnyTool[]
  close(): Promise<void>
}

/** Connects, and shows each connection to whoever looks on before it is made. */
export type OpenServers = (onConnection: (connection: McpConnection) => void) => Promise<Servers>

export async function readServers(path: string, { env }: Io): Promise<Record<string, McpServerConfig>> {
  const { readMcpConfig } = await import('../../mcp/index.ts')
  return readMcpConfig(path, env)
}

/** The MCP servers of a file. One that is in trouble is told of, and costs only its own tools. */
export async function openServers(
  servers: Record<string, McpServerConfig>,
  onConnection: (connection: McpConnection) => void,
  tell: (text: string) => void,
): Promise<Servers> {
  const { connectMcp } = await import('../../mcp/index.ts')
  const mcp = await connectMcp({ servers, onConnection })
  for (const { name, state, problem } of mcp.servers()) {
    // both may hold what a file or a program says
    if (state !== 'ready')
      tell(`signalbox: the MCP server ${cleanLine(name)} is not there: ${cleanLine(problem ?? state)}\n`)
  }
  return { tools: () => mcp.tools(), close: () => mcp.close() }
}
