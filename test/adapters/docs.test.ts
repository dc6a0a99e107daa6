import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it, vi } from 'vitest'

const page = readFileSync(resolve(import.meta.dirname, '../../docs/models.md'), 'utf8')
const folder = join(import.meta.dirname, 'samples')

describe('the page on models', () => {
  it.each(readdirSync(folder))('shows a sample that compiles: %s', (name) => {
    expect(page).toContain(`\`\`\`ts\n${readFileSync(join(folder, name), 'utf8')}\`\`\``)
  })

  it('names the entry that has each function', async () => {
    const rows = [...page.matchAll(/^\| .* \| `(signalbox[\w/-]*)` \| (.*) \|$/gm)]
    expect(rows).toHaveLength(5)
    for (const [, entry = '', calls = ''] of rows) {
      const names = [...calls.matchAll(/`(\w+)\(/g)].map(([, name]) => name)
      expect(Object.keys(await import(entry))).toEqual(expect.arrayContaining(names))
    }
  })

  it('shows no other samples', () => {
    expect(page.match(/```ts\n/g)).toHaveLength(readdirSync(folder).length)
  })

  it('prints the output on the page', async () => {
    const lines: string[] = []
    vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line))
    await import('./samples/scripted.ts')
    vi.restoreAllMocks()
    // a second try would import nothing and print nothing
    expect(lines).not.toEqual([])
    expect(page).toContain(`\`\`\`\n${lines.join('\n')}\n\`\`\``)
  })
})
