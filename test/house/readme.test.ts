import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it, vi } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

describe('the README', () => {
  it('shows the examples that run', () => {
    expect(read('README.md')).toContain(`\`\`\`ts\n${read('examples/agent.ts')}\`\`\``)
    expect(read('docs/embed.md')).toContain(`\`\`\`ts\n${read('examples/embed.ts')}\`\`\``)
  })

  it('is at most 150 lines long', () => {
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(151)
  })

  it('has the two commands', () => {
    expect(read('README.md')).toContain('npm ci && npm start')
    expect(read('README.md')).toContain('npm ci && npm test')
  })

  it('links to a page whose example prints what the page says', async () => {
    const lines: string[] = []
    vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line))
    await import('../../examples/embed.ts')
    vi.restoreAllMocks()
    expect(lines).toHaveLength(3)
    for (const line of lines) expect(read('docs/embed.md')).toContain(line)
  })
})
