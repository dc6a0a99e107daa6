import { describe, expect, it } from 'vitest'
import { simulatedClock } from '../../../src/testing/index.ts'
import { eventually } from '../../tools/test/processes.ts'
import type { McpServerConfig } from '../src/index.ts'
import { httpBridge } from './http-bridge.ts'
import { connected } from './support.ts'
import { startTurn } from './turn.ts'

const program = new URL('slow-server.mjs', import.meta.url).pathname

const transports: [string, () => Promise<McpServerConfig>][] = [
  ['stdio', async () => ({ command: process.execPath, args: [program] })],
  ['HTTP', async () => ({ url: (await httpBridge(process.execPath, [program], {})).url })],
]

async function setting(config: McpServerConfig) {
  const told: string[] = []
  const mcp = await connected({ servers: { slow: config }, onStderr: ({ text }) => void told.push(text) })
  return { tools: mcp.tools(), told }
}

/** Runs one call until the server has reported this much progress, and then stops it. */
async function stopAfter(
  count: number,
  [tools, name, input]: [Parameters<typeof startTurn>[0], string, object],
  stop: (turn: ReturnType<typeof startTurn>, clock: ReturnType<typeof simulatedClock>) => void,
): Promise<string> {
  const clock = simulatedClock()
  const turn = startTurn(tools, [[name, input]], { clock })
  let seen = 0
  const lines: string[] = []
  for await (const { message } of turn.executor.getRemainingResults()) {
    if (message.type === 'progress' && ++seen === count) stop(turn, clock)
    if (message.type === 'user') lines.push(String((message.message.content[0] as { content: unknown }).content))
  }
  return lines.join('\n')
}

describe.each(transports)('over %s, a call of a server that reports progress and then hangs', (_, config) => {
  const work = (steps: number, words = 'half way') => ['mcp__slow__work', { steps, words }] as const

  it('has its progress in the result when it is aborted', async () => {
    const { tools } = await setting(await config())
    const text = await stopAfter(2, [tools, ...work(2)], ({ executor }) => executor.abort('escape'))
    expect(text).toContain('The user stopped this call.')
    expect(text).toContain('It may have done all or part of its work.')
    expect(text).toContain('[Partial result: the call was stopped before slow answered.')
    expect(text).toContain('Progress until then:\n1 of 3: half way\n2 of 3: half way')
  })

  it('has its progress in the result when it times out', async () => {
    const { tools } = await setting(await config())
    const text = await stopAfter(2, [tools, ...work(2)], (_turn, clock) => clock.increment(120_000))
    expect(text).toContain('Timeout: the call made no progress for 120000 ms and was stopped.')
    expect(text).toContain('1 of 3: half way\n2 of 3: half way')
  })
})

describe('a stopped call', () => {
  const stdio: McpServerConfig = { command: process.execPath, args: [program] }

  it('keeps the latest progress, bounded in size, and says how much it leaves out', async () => {
    const { tools } = await setting(stdio)
    const input = { steps: 400, words: 'x'.repeat(500) }
    const text = await stopAfter(400, [tools, 'mcp__slow__work', input], ({ executor }) => executor.abort('escape'))
    expect(text).toContain('400 of 401: xxx')
    expect(text).not.toMatch(/^1 of 401/m)
    expect(text).toMatch(/\((38\d) other notifications left out\)/)
    expect(text.length).toBeLessThan(9_000)
  })

  it('tells the server, and says that no progress was reported if there was none', async () => {
    const { tools, told } = await setting(stdio)
    const turn = startTurn(tools, [['mcp__slow__work', { steps: 0, words: '' }]])
    await eventually(() => told.join('').includes('began'))
    turn.executor.abort('escape')
    const [text] = await turn.results()
    expect(text).toContain('The server had reported no progress.')
    await eventually(() => told.join('').includes('cancelled'))
  })

  it('that reads a resource has its progress too', async () => {
    const { tools } = await setting(stdio)
    const input = { server: 'slow', uri: 'slow://one' }
    const text = await stopAfter(1, [tools, 'ReadMcpResource', input], ({ executor }) => executor.abort('escape'))
    expect(text).toContain('[Partial result: the call was stopped before slow answered.')
    expect(text).toContain('1: looking')
  })
})
