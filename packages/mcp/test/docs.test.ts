import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it, vi } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const page = read('docs/mcp.md')

it.each([
  ['examples/mcp.ts', () => import('../../../examples/mcp.ts')],
  ['examples/mcp-inspect.ts', () => import('../../../examples/mcp-inspect.ts')],
  ['examples/mcp-serve.ts', () => import('../../../examples/mcp-serve.ts')],
])('the page on MCP shows %s unchanged, and its output', async (example, run) => {
  expect(page).toContain(`\`\`\`ts\n${read(example)}\`\`\``)
  const lines: string[] = []
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line))
  await run()
  vi.restoreAllMocks()
  expect(`${lines.join('\n')}\n`.replaceAll(/\/\S*signalbox-example-\w+/g, 'ROOT')).toBe(printedFor(example))
})

/** The plain code block after the program on the page. */
function printedFor(example: string): string | undefined {
  const after = page.slice(page.indexOf(read(example)) + read(example).length)
  return /\n```\n([\s\S]*?)```/.exec(after)?.[1]
}
