import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it, vi } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** Each page, the example it shows, and how to run it. */
const pages: [page: string, example: string, run: () => Promise<unknown>][] = [
  ['docs/road-of-a-call.md', 'examples/guarded.ts', () => import('../../examples/guarded.ts')],
]

describe('the examples of the docs', () => {
  it.each(pages)('P4 P5 P7 P11 %s shows %s as it is, and what it prints', async (page, example, run) => {
    expect(read(page)).toContain(`\`\`\`ts\n${read(example)}\`\`\``)
    const lines: string[] = []
    vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line))
    await run()
    vi.restoreAllMocks()
    expect(read(page)).toContain(`\`\`\`\n${lines.join('\n')}\n\`\`\``)
  })
})
