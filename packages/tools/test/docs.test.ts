import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it, vi } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const page = read('docs/tools.md')

it.each(['examples/tools.ts', 'examples/bubblewrap.ts'])('the page on tools shows %s unchanged', (example) => {
  expect(page).toContain(`\`\`\`ts\n${read(example)}\`\`\``)
})

it('the page on tools shows the output of its program', async () => {
  const lines: string[] = []
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line))
  await import('../../../examples/tools.ts')
  vi.restoreAllMocks()
  // a second try would import nothing and print nothing
  expect(lines).not.toEqual([])
  expect(page).toContain(`\`\`\`\n${lines.join('\n')}\n\`\`\``)
})

it('the page on tools says what rules do not protect', () => {
  expect(page).toContain('are not a sandbox')
})
