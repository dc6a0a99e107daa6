import { readFile } from 'node:fs/promises'
import { describeValue, SignalboxError } from 'signalbox'
import { z } from 'zod'
import { isRecord } from './plain-values.ts'
import { checkServerConfig, type McpServerConfig } from './server-config.ts'

const file = z.looseObject({ mcpServers: z.record(z.string(), z.unknown()) })

/**
 * Reads the common server file: `{ "mcpServers": { name: { command, args, env } | { url } } }`.
 * `${NAME}` and `${NAME:-default}` stand for environment variables. Throws an error that names the invalid part.
 *
 * @example
 * const mcp = await connectMcp({ servers: await readMcpConfig('.mcp.json') })
 */
export async function readMcpConfig(
  path: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Record<string, McpServerConfig>> {
  const text = await readFile(path, 'utf8').catch((error: Error) =>
    fail(path, `cannot read the file: ${error.message}`),
  )
  return parseMcpConfig(text, path, env)
}

export function parseMcpConfig(
  text: string,
  path: string,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, McpServerConfig> {
  const parsed = file.safeParse(parseJson(text, path))
  if (!parsed.success) fail(path, 'expected an object with mcpServers')
  const servers: [string, McpServerConfig][] = []
  for (const [name, given] of Object.entries(parsed.data.mcpServers)) {
    if (!isRecord(given)) fail(path, `${name}: expected an object, received ${describeValue(given, 80)}`)
    // other programs store more fields than we need
    const { type, disabled, ...rest } = given
    if (disabled === true) continue
    if (type === 'sse') fail(path, `${name} has type sse, which is not supported. Use streamable HTTP`)
    servers.push([name, readServer(name, filled(rest, `${path}: ${name}`, env), path)])
  }
  return Object.fromEntries(servers)
}

function readServer(name: string, given: unknown, path: string): McpServerConfig {
  try {
    return checkServerConfig(name, given)
  } catch (error) {
    return fail(path, error instanceof Error ? error.message : String(error))
  }
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    return fail(path, `invalid JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Fills in variables. An unset variable is an error: an empty key would fail later, with a worse message. */
function filled(value: unknown, where: string, env: Readonly<Record<string, string | undefined>>): unknown {
  if (typeof value === 'string') {
    return value.replaceAll(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, otherwise: string | undefined) => {
      const found = (Object.hasOwn(env, name) ? env[name] : undefined) ?? otherwise
      if (found === undefined)
        throw new SignalboxError('invalid_option', `${where}: environment variable ${name} is not set.`)
      return found
    })
  }
  if (Array.isArray(value)) return value.map((each) => filled(each, where, env))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each, where, env)]))
}

function fail(path: string, problem: string): never {
  throw new SignalboxError('invalid_option', `${path}: ${problem}`)
}
