import { isRecord } from '../text/is-record.ts'
import type { JSONObjectSchema } from '../tool/tool.ts'
import { isTooDeep } from './is-too-deep.ts'

/** A tool as its server describes it, as far as that can be used. */
export interface McpToolInfo {
  readonly name: string
  readonly description: string | undefined
  readonly inputSchema: JSONObjectSchema
  readonly outputSchema: Record<string, unknown> | undefined
  readonly hints: McpHints
}

/** What a server says of its own tool. Nobody checks it. */
export interface McpHints {
  readonly isReadOnly: boolean
  readonly isDestructive: boolean
  readonly isIdempotent: boolean
}

const maxPages = 64
const maxTools = 2_000
const maxSchemaChars = 200_000
const maxDescription = 10_000

type Ask = (params: object) => Promise<Record<string, unknown>>

/** All pages of a list. A server that never comes to an end is not listened to for ever. */
export async function readPages(ask: Ask, key: string, warn: (problem: string) => void): Promise<unknown[]> {
  const items: unknown[] = []
  const seen = new Set<string>()
  let cursor: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const answer = await ask(cursor === undefined ? {} : { cursor })
    const list = answer[key]
    if (Array.isArray(list)) items.push(...list.slice(0, maxTools - items.length))
    else warn(`its list has no ${key}`)
    const { nextCursor } = answer
    if (typeof nextCursor !== 'string' || seen.has(nextCursor) || items.length >= maxTools) break
    seen.add(nextCursor)
    cursor = nextCursor
  }
  return items
}

/** One tool of a list. What is wrong with it costs this tool, not the list. */
export function readToolInfo(given: unknown, warn: (problem: string) => void): McpToolInfo | undefined {
  if (!isRecord(given) || typeof given.name !== 'string') return skip('a tool without a name', warn)
  const { name, description, inputSchema = { type: 'object' }, annotations } = given
  const outputSchema = isTooDeep(given.outputSchema) ? undefined : given.outputSchema
  const schema = readInputSchema(inputSchema)
  if (typeof schema === 'string') return skip(`its tool ${JSON.stringify(name.slice(0, 80))}: ${schema}`, warn)
  return {
    name,
    description: typeof description === 'string' ? cut(description) : undefined,
    inputSchema: schema,
    outputSchema: isRecord(outputSchema) && sizeOf(outputSchema) <= maxSchemaChars ? outputSchema : undefined,
    hints: readHints(annotations),
  }
}

function skip(what: string, warn: (problem: string) => void): undefined {
  warn(`${what} cannot be used`)
  return undefined
}

/** As it is, or what speaks against it. */
function readInputSchema(schema: unknown): JSONObjectSchema | string {
  if (!isRecord(schema)) return 'its input schema is none, so it'
  if (isTooDeep(schema)) return 'its input schema nests too deep, so it'
  if (sizeOf(schema) > maxSchemaChars) return `its input schema is larger than ${maxSchemaChars} characters, so it`
  if (schema.type === undefined) return { ...schema, type: 'object' }
  return schema.type === 'object' ? (schema as JSONObjectSchema) : 'its input is not an object, so it'
}

const sizeOf = (value: unknown): number => JSON.stringify(value)?.length ?? 0

const cut = (text: string): string => (text.length > maxDescription ? `${text.slice(0, maxDescription)}…` : text)

/** Only what is said outright: what the protocol would assume is left to the rules of the host. */
function readHints(annotations: unknown): McpHints {
  const { readOnlyHint, destructiveHint, idempotentHint } = isRecord(annotations) ? annotations : {}
  const isReadOnly = readOnlyHint === true
  return { isReadOnly, isDestructive: destructiveHint === true && !isReadOnly, isIdempotent: idempotentHint === true }
}
