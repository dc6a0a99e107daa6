import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { eventually, processesWith } from '../../tools/test/processes.ts'
import { connectMcp, type Mcp, type McpOptions, type McpServerConfig } from '../src/index.ts'
import { type After, httpBridge } from './http-bridge.ts'

const require = createRequire(import.meta.url)

/** The program of a published server. */
export const programOf = (name: 'everything' | 'filesystem'): string =>
  join(dirname(require.resolve(`@modelcontextprotocol/server-${name}/package.json`)), 'dist/index.js')

/** A text that is only in the environment of one test's processes. */
export const newToken = (): string => `signalbox-mcp-${Math.random().toString(36).slice(2)}`

export function everything(token: string): McpServerConfig {
  return { command: process.execPath, args: [programOf('everything'), 'stdio'], env: { TOKEN: token } }
}

export function filesystem(root: string, token: string): McpServerConfig {
  return { command: process.execPath, args: [programOf('filesystem'), root], env: { TOKEN: token } }
}

/** The published server over its own streamable HTTP. */
export async function everythingOverHttp(token: string, after: After = onTestFinished): Promise<McpServerConfig> {
  const port = await freePort()
  const child = spawn(process.execPath, [programOf('everything'), 'streamableHttp'], {
    env: { ...process.env, TOKEN: token, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  after(() => void child.kill('SIGKILL'))
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (text) => String(text).includes('listening') && resolve())
    child.once('exit', () => reject(new Error('the server ended')))
  })
  return { url: `http://127.0.0.1:${port}/mcp` }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** The published server behind a bridge, because it has no HTTP of its own. */
export async function filesystemOverHttp(
  root: string,
  token: string,
  after: After = onTestFinished,
): Promise<McpServerConfig> {
  const { url } = await httpBridge(process.execPath, [programOf('filesystem'), root], { TOKEN: token }, after)
  return { url }
}

/** Connected, and closed after the test. */
export async function connected(options: McpOptions, after: After = onTestFinished): Promise<Mcp> {
  const mcp = await connectMcp(options)
  after(() => mcp.close())
  return mcp
}

export async function nothingLeft(token: string): Promise<void> {
  await eventually(async () => (await processesWith(token)).length === 0)
}
