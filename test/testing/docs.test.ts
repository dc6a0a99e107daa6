import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { callChart } from '../../machines/index.ts'
import { chartToMermaid } from '../../src/testing/index.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const declared = vi.hoisted((): (() => Promise<void>)[] => [])
// Node's own runner would run these after the file; here they run at once
vi.mock('node:test', () => ({
  describe: (_: string, body: () => void) => body(),
  it: (_: string, test: () => Promise<void>) => void declared.push(test),
}))

const inWords = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

async function printedBy(run: () => Promise<unknown>): Promise<string[]> {
  const lines: string[] = []
  vi.spyOn(console, 'log').mockImplementation((...words: unknown[]) => void lines.push(words.map(inWords).join(' ')))
  try {
    await run()
  } finally {
    vi.restoreAllMocks()
  }
  return lines
}

describe('the page on testing', () => {
  it.each([
    ['find-the-bug', () => import('../../examples/testing/find-the-bug.ts')],
    ['held', () => import('../../examples/testing/held.ts')],
    ['simulate', () => import('../../examples/testing/simulate.ts')],
    ['watch-live', () => import('../../examples/testing/watch-live.ts')],
    ['tool-invariants', () => import('../../examples/testing/tool-invariants.ts')],
    ['explore-query', () => import('../../examples/testing/explore-query.ts')],
    ['crash', () => import('../../examples/testing/crash.ts')],
    ['coverage', () => import('../../examples/testing/coverage.ts')],
    ['check-recording', () => import('../../examples/testing/check-recording.ts')],
  ] as const)('Y6 shows %s unchanged, and its output', async (name, run) => {
    const page = read('docs/testing.md')
    expect(page).toContain(`\`\`\`ts\n${read(`examples/testing/${name}.ts`)}\`\`\``)
    const lines = await printedBy(run)
    // a second try would import nothing and print nothing
    expect(lines).not.toEqual([])
    expect(page).toContain(`\`\`\`\n${lines.join('\n')}\n\`\`\``)
  })

  it.each([
    ['in-a-test', () => import('../../examples/testing/in-a-test.ts'), 1],
    ['conformance', () => import('../../examples/testing/conformance.ts'), 13],
  ] as const)('Y6 shows %s unchanged, and its tests pass', async (_, declare, count) => {
    await declare()
    expect(declared).toHaveLength(count)
    for (const test of declared.splice(0)) await test()
  })

  it('Y6 has no code that is not run', () => {
    const examples = readdirSync(join(root, 'examples/testing')).map((name) => read(`examples/testing/${name}`))
    const blocks = [...read('docs/testing.md').matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code)
    expect(blocks.filter((code) => !examples.includes(code ?? ''))).toEqual([])
    expect(blocks).toHaveLength(examples.length)
  })
})

describe('a chart as Mermaid text', () => {
  it('Q1 has every state, and arrows with their events and guards', () => {
    const chart = chartToMermaid(callChart() as never)
    expect(chart).toContain('[*] --> queued')
    expect(chart).toContain('queued --> executing_validating: call.start [needsValidation]')
    expect(chart).toContain('state "asking" as executing_permission_asking')
    expect(chart).toContain('completed_durable --> yielded: call.yield')
    expect(chart).toContain('yielded --> [*]')
  })
})
