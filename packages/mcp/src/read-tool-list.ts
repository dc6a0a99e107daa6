import type { JSONObjectSchema } from 'signalbox'
import { isRecord, isTooDeep } from './plain-values.ts'

/** A tool as its server describes it, as far as it is usable. */
export interface McpToolInfo {
  readonly name: string
  readonly description: string | undefined
  readonly inputSchema: JSONObjectSchema
  readonly outputSchema: Record<string, unknown> | undefined
  readonly hints: McpHints
}

/** The server's claims about its own tool. They are not verified. */
interface McpHints {
  readonly isReadOnly: boolean
  readonly isDestructive: boolean
  readonly isIdempotent: boolean
}

const maxPages = 64
const maxTools = 2_000
const maxSchemaChars = 200_000
const maxDescription = 10_000

type Ask = (params: object) => Promise<Record<string, unknown>>

/** Reads all pages of a list, up to a limit for servers that never stop paging. */
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

/** One tool of a list. An invalid tool is skipped; the rest of the list stays. */
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

/** The schema, or the reason to reject it. */
function readInputSchema(schema: unknown): JSONObjectSchema | string {
  if (!isRecord(schema)) return 'its input schema is not an object, so it'
  if (isTooDeep(schema)) return 'its input schema nests too deeply, so it'
  if (sizeOf(schema) > maxSchemaChars) return `its input schema is larger than ${maxSchemaChars} characters, so it`
  if (schema.type === undefined) return { ...schema, type: 'object' }
  return schema.type === 'object' ? (schema as JSONObjectSchema) : 'its input schema is not of type object, so it'
}

const sizeOf = (value: unknown): number => JSON.stringify(value)?.length ?? 0

const cut = (text: string): string => (text.length > maxDescription ? `${text.slice(0, maxDescription)}…` : text)

/** Only explicit hints: the protocol's defaults are left to the host's rules. */
function readHints(annotations: unknown): McpHints {
  const { readOnlyHint, destructiveHint, idempotentHint } = isRecord(annotations) ? annotations : {}
  const isReadOnly = readOnlyHint === true
  return { isReadOnly, isDestructive: destructiveHint === true && !isReadOnly, isIdempotent: idempotentHint === true }
}
