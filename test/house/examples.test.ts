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
    ['docs/scheduling.md', 'examples/resources.ts', () => import('../../examples/resources.ts')],
    ['docs/background.md', 'examples/background.ts', () => import('../../examples/background.ts')],
    ['docs/limits.md', 'examples/limits.ts', () => import('../../examples/limits.ts')],
    ['docs/scheduling.md', 'examples/locks.ts', () => import('../../examples/locks.ts')],
    ['docs/query.md', 'examples/agent.ts', () => import('../../examples/agent.ts')],
    ['docs/query.md', 'examples/approval.ts', () => import('../../examples/approval.ts')],
    ['docs/query.md', 'examples/fallback.ts', () => import('../../examples/fallback.ts')],
    ['docs/query.md', 'examples/sub-agent.ts', () => import('../../examples/sub-agent.ts')],
    ['docs/sessions.md', 'examples/session.ts', () => import('../../examples/session.ts')],
    ['docs/sessions.md', 'examples/chat-server.ts', () => import('../../examples/chat-server.ts')],
    ['docs/journals.md', 'examples/journals.ts', () => import('../../examples/journals.ts')],
    ['docs/journals.md', 'examples/own-journal-store.ts', () => import('../../examples/own-journal-store.ts')],
    ['docs/remote.md', 'examples/remote.ts', () => import('../../examples/remote.ts')],
    ['docs/inspector.md', 'examples/what-if.ts', () => import('../../examples/what-if.ts')],
    ['docs/inspector.md', 'examples/what-if-conversation.ts', () => import('../../examples/what-if-conversation.ts')],
    ['docs/inspector.md', 'examples/compare-runs.ts', () => import('../../examples/compare-runs.ts')],
    ['docs/inspector.md', 'examples/compare-conversations.ts', () => import('../../examples/compare-conversations.ts')],
    ['docs/inspector.md', 'examples/run-model.ts', () => import('../../examples/run-model.ts')],
  ] as const)('P4 P5 P6 P7 P11 L1 L4 L5 %s shows %s as it is, and what it prints', async (page, example, run) => {
    expect(read(page)).toContain(`\`\`\`ts\n${read(example)}\`\`\``)
    const lines = await printedBy(run)
    // a second try would import nothing and print nothing
    expect(lines).not.toEqual([])
    expect(read(page)).toContain(`\`\`\`\n${lines.join('\n')}\n\`\`\``)
  })

  it('R2 docs/remote.md shows the module that the processes load, as it is', () => {
    expect(read('docs/remote.md')).toContain(`\`\`\`js\n${read('examples/remote-tools.mjs')}\`\`\``)
  })

  it('P6 the one with the inspector prints an address with its secret, and ends by itself', async () => {
    expect(read('docs/inspector.md')).toContain(`\`\`\`ts\n${read('examples/inspect.ts')}\`\`\``)
    const [address, result] = await printedBy(() => import('../../examples/inspect.ts'))
    expect(address).toMatch(/^open http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{40,}$/)
    expect(result).toBe('the text of a.ts')
  })

  const start = (id: string) => ({
    type: 'message_start',
    message: { id, type: 'message', role: 'assistant', content: [], usage: { input_tokens: 1, output_tokens: 1 } },
  })
  const end = (stop_reason: string) => [
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ]
  const ofAnthropic = (at: number) =>
    sse(
      at === 0
        ? [start('m'), ...callBlock(0, 'toolu_a', 'Weather', '{"place":"Oslo"}'), ...end('tool_use')]
        : [start('n'), ...textBlock(0, 'Sunny.'), ...end('end_turn')],
    )
  const call = { id: 'call_a', type: 'function', function: { name: 'Weather', arguments: '{"place":"Oslo"}' } }
  const ofOpenAI = (at: number) =>
    (at === 0
      ? [{ delta: { tool_calls: [{ index: 0, ...call }] } }, { delta: {}, finish_reason: 'tool_calls' }]
      : [{ delta: { content: 'Sunny.' } }, { delta: {}, finish_reason: 'stop' }]
    )
      .map((choice) => ({ id: `c${at}`, object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }] }))
      .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
      .join('')

  it.each([
    ['docs/query.md', 'examples/anthropic.ts', ofAnthropic, () => import('../../examples/anthropic.ts')],
    ['docs/embed.md', 'examples/own-loop.ts', ofAnthropic, () => import('../../examples/own-loop.ts')],
    ['docs/embed.md', 'examples/openai.ts', ofOpenAI, () => import('../../examples/openai.ts')],
  ] as const)('L1 %s shows %s, which runs with the real client against a local server with its protocol', async (...row) => {
    const [page, example, replies, run] = row
    expect(read(page)).toContain(`\`\`\`ts\n${read(example)}\`\`\``)
    const server = await sseServer((response, at) => {
      startSse(response)
      response.end(replies(at))
    })
    for (const name of ['ANTHROPIC', 'OPENAI']) {
      vi.stubEnv(`${name}_API_KEY`, 'none')
      vi.stubEnv(`${name}_BASE_URL`, server.url)
    }
    expect(await printedBy(run)).toEqual(['Sunny.'])
    vi.unstubAllEnvs()
    expect(server.requests).toHaveLength(2)
    expect(JSON.stringify(server.requests[1])).toContain('Sunny in Oslo.')
    await server.close()
  })
})
