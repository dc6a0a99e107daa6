import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { textBlock } from '../../../test/support/held-model.ts'
import { sse, sseServer, startSse } from '../../../test/support/sse-server.ts'
import { endingOf } from '../src/run/ending.ts'
import { UsageCount, usageWords } from '../src/run/usage-count.ts'
import { runCli } from '../src/run-cli.ts'
import { fakeIo } from './fake-io.ts'
import { builtCli, makeScript, temporaryFolder } from './support.ts'
import { hasTmux, openTerminal } from './tmux.ts'

const folder = temporaryFolder()
let count = 0
const newFolder = (): string => {
  const place = join(folder, `${++count}`)
  mkdirSync(join(place, 'work'), { recursive: true })
  return place
}

/** The command line with the real client, against a server with prepared answers. */
async function withModel(texts: readonly string[]) {
  const place = newFolder()
  const server = await sseServer((response, at) => {
    startSse(response)
    const usage = { input_tokens: 1_000, cache_read_input_tokens: 9_000, output_tokens: 1 }
    const begin = {
      type: 'message_start',
      message: { id: `m${at}`, type: 'message', role: 'assistant', model: 'x', content: [], usage },
    }
    const end = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 500 } }
    response.end(sse([begin, ...textBlock(0, texts[at] ?? '?'), end, { type: 'message_stop' }]))
  })
  onTestFinished(() => server.close())
  const env = { ANTHROPIC_API_KEY: 'none', ANTHROPIC_BASE_URL: server.url, SIGNALBOX_HOME: join(place, 'home') }
  const root = join(place, 'work')
  const run = async (args: string[], input = '') => {
    const before = { key: process.env.ANTHROPIC_API_KEY, url: process.env.ANTHROPIC_BASE_URL }
    Object.assign(process.env, { ANTHROPIC_API_KEY: 'none', ANTHROPIC_BASE_URL: server.url })
    try {
      const { io, printed } = fakeIo(env, input)
      return { code: await runCli(['run', '--cwd', root, ...args], io), ...printed }
    } finally {
      for (const [name, value] of [
        ['ANTHROPIC_API_KEY', before.key],
        ['ANTHROPIC_BASE_URL', before.url],
      ] as const) {
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
      }
    }
  }
  return {
    root,
    run,
    env,
    requests: server.requests as { system?: unknown; messages: { role: string; content: unknown }[] }[],
  }
}

describe('signalbox run', () => {
  it('gives the model the piped input, below the prompt', async () => {
    const { run, requests } = await withModel(['Fine.', 'Fine.'])
    expect((await run(['Review', 'this.'], '--- a\n+++ b\n')).code).toBe(0)
    expect(JSON.stringify(requests[0]?.messages)).toContain('Review this.\\n\\n<stdin>\\n--- a\\n+++ b\\n</stdin>')
    await run(['-'], 'only this')
    expect(JSON.stringify(requests[1]?.messages)).toContain('"only this"')
  })

  it('continues the last conversation of the folder, and of no other', async () => {
    const { run, requests, root } = await withModel(['My name is Box.', 'Box.'])
    const none = await run(['--continue', 'Who?'])
    expect([none.code, none.err]).toEqual([2, expect.stringContaining('no earlier session')])
    await run(['What is your name?'])
    const { out } = await run(['--continue', 'Say it again.'])
    expect(out).toContain('Box.')
    expect(requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(JSON.stringify(requests[1]?.messages)).toContain('My name is Box.')
    const elsewhere = join(root, 'sub')
    mkdirSync(elsewhere)
    expect((await run(['--cwd', elsewhere, '--continue', 'x'])).code).toBe(2)
  })

  it('reads AGENTS.md, from the top of the repository down', async () => {
    const { run, requests, root } = await withModel(['Yes.'])
    mkdirSync(join(root, '.git'))
    mkdirSync(join(root, 'app'))
    writeFileSync(join(root, 'AGENTS.md'), 'Use tabs.')
    writeFileSync(join(root, 'app/AGENTS.md'), 'Test with vitest.')
    await run(['--cwd', join(root, 'app'), 'Hello'])
    const system = JSON.stringify(requests[0]?.system)
    expect(system.indexOf('Use tabs.')).toBeGreaterThan(0)
    expect(system.indexOf('Test with vitest.')).toBeGreaterThan(system.indexOf('Use tabs.'))
  })

  it('does not read an AGENTS.md that is a link out of the repository', async () => {
    const { run, requests, root } = await withModel(['Yes.'])
    const repository = join(root, 'repository')
    mkdirSync(join(repository, '.git'), { recursive: true })
    writeFileSync(join(root, 'key'), 'SECRET')
    symlinkSync(join(root, 'key'), join(repository, 'AGENTS.md'))
    await run(['--cwd', repository, 'Hello'])
    expect(requests).toHaveLength(1)
    expect(JSON.stringify(requests)).not.toContain('SECRET')
  })

  it('shows tokens and cost', async () => {
    const { run } = await withModel(['Yes.', 'Yes.'])
    const { out } = await run(['--model', 'claude-opus-4-6', 'Hello'])
    expect(out).toContain('10,000 tokens in (9,000 cached), 500 out, $0.0220')
    const json = await run(['--model', 'claude-opus-4-6', '--json', 'Hello'])
    const end = JSON.parse(json.out.trim().split('\n').at(-1) as string)
    expect(end.usage).toEqual({
      inputTokens: 1_000,
      outputTokens: 500,
      cacheReadTokens: 9_000,
      cacheWriteTokens: 0,
      costUSD: 0.022,
    })
  })
})

it('U2 limits the cost by the price of the model, and reserves it before the request', async () => {
  const { run, requests } = await withModel(['Yes.'])
  const args = ['--model', 'claude-opus-4-6', '--max-tokens', '1000', 'Hello']
  const tooDear = await run(['--limit', 'costUsd=0.02', ...args])
  expect([tooDear.code, tooDear.out, requests.length]).toEqual([
    4,
    expect.stringContaining('Stopped by the limit costUsd (0 of 0.02)'),
    0,
  ])
  const affordable = await run(['--limit', 'costUsd=1', ...args])
  expect([affordable.code, affordable.out]).toEqual([0, expect.stringContaining('$0.0220')])
  const unknown = await run(['--limit', 'costUsd=1', '--model', 'somebody-else', 'Hello'])
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('needs the price of somebody-else')])
  expect(requests).toHaveLength(1)
})

it('uses the price in the settings, and shows no cost if the price is unknown', () => {
  const own = new UsageCount({ mine: { input: 1, output: 2 } })
  own.add('mine', { input_tokens: 1_000_000, output_tokens: 1_000_000, cache_creation_input_tokens: 1_000_000 })
  expect(usageWords(own.total as never)).toBe('2,000,000 tokens in, 1,000,000 out, $4.25')
  const unknown = new UsageCount()
  unknown.add('claude-opus-4-6', { input_tokens: 10, output_tokens: 1 })
  unknown.add('somebody-else', { input_tokens: 10, output_tokens: 1 })
  expect(usageWords(unknown.total as never)).toBe('20 tokens in, 2 out')
  expect(new UsageCount().total).toBeUndefined()
})

it('U3 counts the agents of a run, each model at its own price', () => {
  const none = { requests: 1, retries: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
  const count = new UsageCount({ mine: { input: 1, output: 2 } })
  const models = {
    mine: { ...none, inputTokens: 1_000_000, outputTokens: 0 },
    'claude-opus-4-6-20260101': { ...none, inputTokens: 1_000_000, outputTokens: 0 },
    unknown: { ...none, inputTokens: 0, outputTokens: 1_000_000 },
  }
  count.addRun({ models, turns: 3, retries: 0, calls: 0, agents: 1, modelMs: 0, toolMs: 0 }, 'mine')
  expect(usageWords(count.total as never)).toBe('2,000,000 tokens in, 1,000,000 out, $8.00')
})

it('U2 says which limit ended a run', () => {
  const usage = { models: {}, turns: 3, retries: 0, calls: 0, agents: 0, modelMs: 0, toolMs: 0 }
  const result = { reason: 'limit', limit: 'turns', used: 3, max: 3, stopReason: 'tool_use', usage } as const
  const around = { session: { items: [] } as never, turns: 3, isTerminated: false, now: () => 5 }
  const { words, exitCode } = endingOf(result, around)
  expect([words, exitCode]).toEqual(['Stopped by the limit turns (3 of 3): 3 turns, 0 calls, 5 ms', 4])
})

describe.skipIf(!hasTmux)('in a real terminal', () => {
  it('U1 takes further prompts in the same session, whose limits hold for all of them', async () => {
    const place = newFolder()
    const script = makeScript(place, 'turns.json', { prompt: 'First.', turns: ['One.', 'Two.', 'Three.'] })
    const transcript = join(place, 't.jsonl')
    const args = ['run', '--script', script, '--interactive', '--limit', 'turns=2', '--transcript', transcript]
    const terminal = openTerminal([process.execPath, builtCli(), ...args], 80, 24, join(place, 'work'))
    await terminal.shows('Type the next prompt.')
    terminal.type('And then?')
    await terminal.shows('› And then?')
    terminal.keys('Enter')
    await terminal.shows('Two.')
    await terminal.shows('Type the next prompt.')
    terminal.type('More?')
    await terminal.shows('› More?')
    terminal.keys('Enter')
    await terminal.shows('Stopped by the limit turns (2 of 2)')
    await terminal.shows('Type the next prompt.')
    terminal.keys('C-c')
    expect(await terminal.ended()).toBe(4)
    const roles = readFileSync(transcript, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type)
    expect(roles).toEqual(['user', 'assistant', 'user', 'assistant', 'user'])
    expect(terminal.history()).toContain('> And then?')
    expect(terminal.history()).not.toContain('Three.')
  })
})
