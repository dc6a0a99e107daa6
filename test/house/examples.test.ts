import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { callBlock, textBlock } from '../support/held-model.ts'
import { sse, sseServer, startSse } from '../support/sse-server.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

async function printedBy(run: () => Promise<unknown>): Promise<string[]> {
  const lines: string[] = []
  vi.spyOn(console, 'log').mockImplementation((...words: unknown[]) => void lines.push(words.join(' ')))
  try {
    await run()
  } finally {
    vi.restoreAllMocks()
  }
  return lines
}

describe('the examples of the docs', () => {
  it.each([
    ['docs/road-of-a-call.md', 'examples/guarded.ts', () => import('../../examples/guarded.ts')],
    ['docs/query.md', 'examples/agent.ts', () => import('../../examples/agent.ts')],
    ['docs/query.md', 'examples/approval.ts', () => import('../../examples/approval.ts')],
    ['docs/query.md', 'examples/fallback.ts', () => import('../../examples/fallback.ts')],
    ['docs/query.md', 'examples/sub-agent.ts', () => import('../../examples/sub-agent.ts')],
    ['docs/inspector.md', 'examples/what-if.ts', () => import('../../examples/what-if.ts')],
    ['docs/inspector.md', 'examples/compare-runs.ts', () => import('../../examples/compare-runs.ts')],
  ] as const)('P4 P5 P6 P7 P11 L1 L4 L5 %s shows %s as it is, and what it prints', async (page, example, run) => {
    expect(read(page)).toContain(`\`\`\`ts\n${read(example)}\`\`\``)
    const lines = await printedBy(run)
    expect(read(page)).toContain(`\`\`\`\n${lines.join('\n')}\n\`\`\``)
  })

  it('P6 the one with the inspector prints an address that holds its secret, and ends by itself', async () => {
    expect(read('docs/inspector.md')).toContain(`\`\`\`ts\n${read('examples/inspect.ts')}\`\`\``)
    const [address, result] = await printedBy(() => import('../../examples/inspect.ts'))
    expect(address).toMatch(/^open http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{40,}$/)
    expect(result).toBe('the text of a.ts')
  })

  it('L1 the one with the real Anthropic client runs against a server that speaks its wire', async () => {
    expect(read('docs/query.md')).toContain(`\`\`\`ts\n${read('examples/anthropic.ts')}\`\`\``)
    const start = { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', content: [] } }
    const end = (stop_reason: string) => [{ type: 'message_delta', delta: { stop_reason } }, { type: 'message_stop' }]
    const server = await sseServer((response, at) => {
      startSse(response)
      const events =
        at === 0
          ? [start, ...callBlock(0, 'toolu_a', 'Weather', '{"place":"Oslo"}'), ...end('tool_use')]
          : [{ ...start, message: { ...start.message, id: 'n' } }, ...textBlock(0, 'Sunny.'), ...end('end_turn')]
      response.end(sse(events))
    })
    vi.stubEnv('ANTHROPIC_API_KEY', 'none')
    vi.stubEnv('ANTHROPIC_BASE_URL', server.url)
    expect(await printedBy(() => import('../../examples/anthropic.ts'))).toEqual(['Sunny.'])
    vi.unstubAllEnvs()
    expect(server.requests).toHaveLength(2)
    expect(JSON.stringify(server.requests[1])).toContain('Sunny in Oslo.')
    await server.close()
  })
})
