import { parseArgs } from 'node:util'
import { type PermissionMode, permissionModes } from '../../machines/index.ts'
import type { McpServeOptions } from './mcp-serve.ts'

/** The options of `mcp-serve`, or what is wrong with them. */
export function readServeArguments(args: readonly string[], env = process.env): McpServeOptions | string {
  try {
    const { values } = parseArgs({ args: [...args], options, strict: true })
    const { root = process.cwd(), http, port, host, tools, mode, ...given } = values
    const { token = env.SIGNALBOX_MCP_TOKEN, ...rest } = given
    if (mode !== undefined && !permissionModes.includes(mode as PermissionMode)) {
      return `--mode wants one of ${permissionModes.join(', ')}.`
    }
    if (port !== undefined && !/^\d{1,5}$/.test(port)) return '--port wants a port number.'
    if (http !== true && (port ?? host ?? given.token) !== undefined)
      return '--port, --host and --token go with --http.'
    return {
      root,
      ...rest,
      ...(mode !== undefined && { mode: mode as PermissionMode }),
      ...(tools !== undefined && { tools: tools.flatMap((list) => list.split(',')) }),
      ...(http === true && { http: { host, token, ...(port !== undefined && { port: Number(port) }) } }),
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const options = {
  root: { type: 'string' },
  http: { type: 'boolean' },
  port: { type: 'string' },
  host: { type: 'string' },
  token: { type: 'string' },
  tools: { type: 'string', multiple: true },
  mode: { type: 'string' },
  allow: { type: 'string', multiple: true },
  ask: { type: 'string', multiple: true },
  deny: { type: 'string', multiple: true },
  inspect: { type: 'boolean' },
} as const
