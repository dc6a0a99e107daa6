import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it, vi } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const page = read('docs/transcripts.md')

describe('docs/transcripts.md', () => {
  it('shows the example that runs', () => {
    expect(page).toContain(`\`\`\`ts\n${read('examples/transcript.ts')}\`\`\``)
  })

  it('shows what the example prints', async () => {
    const lines: string[] = []
    vi.spyOn(console, 'log').mockImplementation((...words: unknown[]) => void lines.push(words.join(' ')))
    await import('../../examples/transcript.ts')
    vi.restoreAllMocks()
    // a second try would import nothing and print nothing
    expect(lines).not.toEqual([])
    expect(page).toContain(`\`\`\`\n${lines.join('\n')}\n\`\`\``)
  })

  it('has every code of a problem', () => {
    const codes = [...read('src/transcripts/transcript-problem.ts').matchAll(/\| '(\w+)'|= '(\w+)'/g)].map(
      ([, one, other]) => one ?? other,
    )
    expect(codes.length).toBeGreaterThan(15)
    for (const code of codes) expect(page).toContain(`\`${code}\``)
  })
})
