import type { AnyTool } from '../../index.ts'
import type { Io } from '../io.ts'

export interface Servers {
  /** As they are now: a server may bring others later, or be gone. */
  tools(): readonly AnyTool[]
  close(): Promise<void>
}

/** The MCP servers of a file. One that is in trouble is told of, and costs only its own tools. */
export async function openServers(path: string, { stderr, env }: Io): Promise<Servers> {
  const { connectMcp, readMcpConfig } = await import('../../mcp/index.ts')
  const mcp = await connectMcp({ servers: await readMcpConfig(path, env) })
  for (const { name, state, problem } of mcp.servers()) {
    if (state !== 'ready') stderr.write(`signalbox: the MCP server ${name} is not there: ${problem ?? state}\n`)
  }
  return { tools: () => mcp.tools(), close: () => mcp.close() }
}
