import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { connectMcp, type Mcp, type McpOptions, type McpServerConfig } from '../../src/mcp/index.ts'
import { eventually, processesWith } from '../tools/processes.ts'

const require = createRequire(import.meta.url)

/** The program of a published server. */
export const programOf = (name: 'everything' | 'filesystem'): string =>
  join(dirname(require.resolve(`@modelcontextprotocol/server-${name}/package.json`)), 'dist/index.js')

/** A text that only the processes of one test have in their environment. */
export const newToken = (): string => `signalbox-mcp-${Math.random().toString(36).slice(2)}`

export function everything(token: string): McpServerConfig {
  return { command: process.execPath, args: [programOf('everything'), 'stdio'], env: { TOKEN: token } }
}

export function filesystem(root: string, token: string): McpServerConfig {
  return { command: process.execPath, args: [programOf('filesystem'), root], env: { TOKEN: token } }
}

/** Connected, and closed when the test is over. */
export async function connected(options: McpOptions): Promise<Mcp> {
  const mcp = await connectMcp(options)
  onTestFinished(() => mcp.close())
  return mcp
}

export async function nothingLeft(token: string): Promise<void> {
  await eventually(async () => (await processesWith(token)).length === 0)
}
