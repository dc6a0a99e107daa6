import { createHash } from 'node:crypto'

/** The tool names that every provider accepts. */
const maxName = 64
const maxServer = 24
const hashChars = 6

/** A server's name as part of its tools' names; two underscores would end it too early. */
export const serverKey = (name: string): string =>
  name
    .replaceAll(/[^a-zA-Z0-9_-]/g, '_')
    .replaceAll(/_{2,}/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, maxServer)
    .replaceAll(/_+$/g, '')

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, hashChars)

/**
 * The names of a server's tools, by the server's own names. A name depends only on the set of names: `a.b` beside
 * `a_b` gets a hash, whatever the order of the list.
 */
export function toolNames(server: string, tools: readonly string[]): Map<string, string> {
  const prefix = `mcp__${server}__`
  const plain = new Map(tools.map((tool) => [tool, prefix + tool.replaceAll(/[^a-zA-Z0-9_-]/g, '_')]))
  const counts = new Map<string, number>()
  for (const name of plain.values()) counts.set(name, (counts.get(name) ?? 0) + 1)
  const named = ([tool, name]: [string, string]): [string, string] => {
    const isOwn = name === prefix + tool
    const isClear = (isOwn || counts.get(name) === 1) && name.length <= maxName && tool !== ''
    return [tool, isClear ? name : `${name.slice(0, maxName - hashChars - 1)}_${hashOf(tool)}`]
  }
  return new Map([...plain].map(named))
}
