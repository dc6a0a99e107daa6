import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { simulatedClock } from '../../../src/testing/index.ts'
import { runTool } from '../../tools/test/bench.ts'
import { eventually, processesWith } from '../../tools/test/processes.ts'
import type { Mcp, McpServerConfig } from '../src/index.ts'
import { type After, type Bridge, httpBridge } from './http-bridge.ts'
import { connected, everything, newToken, nothingLeft, programOf } from './support.ts'
import { startTurn } from './turn.ts'

const proxy = new URL('fault-proxy.mjs', import.meta.url).pathname

/** The published server, behind a proxy that injects the requested fault. */
const faulty = (token: string, env: Record<string, string> = {}): McpServerConfig => ({
  command: process.execPath,
  args: [proxy, process.execPath, programOf('everything'), 'stdio'],
  env: { TOKEN: token, ...env },
})

const echo = (server: string, message: string) => [`mcp__${server}__echo`, { message }] as const

/** One faulty call among good ones, of the same server and of another, safe and unsafe. */
const turnWith = (fault: string) => [
  echo('good', 'one'),
  echo('bad', 'two'),
  echo('bad', `fault:${fault}`),
  echo('bad', 'four'),
  // unsafe here: it waits for all before it, and all behind it wait
  ['mcp__bad__get-sum', { a: 2, b: 3 }] as const,
  echo('good', 'six'),
]

const others = (lines: readonly string[]): string[] => lines.filter((line) => !line.startsWith('call_2'))
const theOthers = [
  'call_0: Echo: one',
  'call_1: Echo: two',
  'call_3: Echo: four',
  'call_4: The sum of 2 and 3 is 5.',
  'call_5: Echo: six',
]
const tools = { 'get-sum': { isSafe: false } }

type Fault = readonly [what: string, fault: string, problem: RegExp]
/** Each needs a server or two, so similar cases run only in the full suite. */
const inFull = (...fault: Fault): Fault[] => (process.env.SIGNALBOX_FULL === '1' ? [fault] : [])
const reconnect = { minMs: 5, maxMs: 20 }
const token = newToken()
const ends: (() => void | Promise<void>)[] = []
const after: After = (end) => void ends.unshift(end)
let mcp: Mcp
let bridge: Bridge
const overHttp = { url: '' }

beforeAll(async () => {
  bridge = await httpBridge(process.execPath, [programOf('everything'), 'stdio'], { TOKEN: token }, after)
  overHttp.url = bridge.url
  const servers = {
    good: everything(token),
    bad: { ...faulty(token), maxMessageBytes: 4_000_000, maxNotifications: 300, tools },
  }
  mcp = await connected({ servers, reconnect }, after)
})
afterAll(async () => {
  for (const end of ends) await end()
  await nothingLeft(token)
})

describe('over stdio, a server that', () => {
  it.each<Fault>([
    ['dies', 'die', /broke/],
    ...inFull('dies in the middle of its answer', 'half', /broke/),
    ['sends a message that never ends', 'huge', /broke/],
    ['floods', 'flood', /broke/],
    ['answers with an error', 'error', /bad returned an error \(-32050\): out of trains/],
    ['answers with something that is no result', 'noResult', /bad returned|bad: /],
  ])('%s fails one call, and works for the next', async (_what, fault, problem) => {
    const lines = await startTurn(mcp.tools(), turnWith(fault)).results()
    expect(lines.map((line) => line.slice(0, 6))).toEqual(['call_0', 'call_1', 'call_2', 'call_3', 'call_4', 'call_5'])
    expect(others(lines)).toEqual(theOthers)
    expect(lines[2]).toMatch(/^call_2 failed/)
    expect(lines[2]).toMatch(problem)
    expect((await runTool(mcp.tools(), ...echo('bad', 'again'))).text).toBe('Echo: again')
  })

  it.each([
    ['never answers', 'hang'],
    ['answers under another id', 'wrongId'],
  ])('%s fails one call, which ends by its timeout', async (_what, fault) => {
    const clock = simulatedClock()
    const turn = startTurn(mcp.tools(), turnWith(fault), { clock })
    await eventually(() => turn.running() === 1)
    const results = turn.results()
    clock.increment(120_000)
    const lines = await results
    expect(others(lines)).toEqual(theOthers)
    expect(lines[2]).toMatch(/^call_2 failed: .*Timeout: the call made no progress for 120000 ms/)
  })

  it.each([
    ['prints what is no message', 'garbage'],
    ['answers twice', 'twice'],
  ])('%s fails no call', async (_what, fault) => {
    const lines = await startTurn(mcp.tools(), turnWith(fault)).results()
    expect(others(lines)).toEqual(theOthers)
    expect(lines[2]).toBe(`call_2: Echo: fault:${fault}`)
  })

  it('sends content of an unknown type: the content is described', async () => {
    const { text, isError } = await runTool(mcp.tools(), ...echo('bad', 'fault:odd'))
    expect(isError).toBe(false)
    expect(text).toContain('hologram')
    expect(text).toContain('Invalid content: 7')
    expect(text).toContain('and text')
  })

  it('reports progress right before its answer: none of it is lost', async () => {
    const { progress } = await runTool(mcp.tools(), ...echo('bad', 'fault:chatter'))
    expect(progress).toHaveLength(9)
  })

  it('ignores a cancellation does not block other calls', async () => {
    const turn = startTurn(mcp.tools(), [echo('bad', 'fault:hang'), echo('bad', 'fault:hang')])
    await eventually(() => turn.running() === 2)
    const results = turn.results()
    turn.executor.abort('escape')
    expect(await results).toEqual([
      expect.stringContaining('The user stopped this call'),
      expect.stringContaining('The user stopped this call'),
    ])
  })

  it('changes its list in the middle of a turn', async () => {
    const told = new Promise<string>((resolve) => mcp.on('tools', ({ server }) => resolve(server)))
    const before = mcp.tools()
    const lines = await startTurn(before, turnWith('newTool')).results()
    expect(others(lines)).toEqual(theOthers)
    expect(await told).toBe('bad')
    expect(mcp.tools().map(({ name }) => name)).toContain('mcp__bad__brand-new')
    // the old tools still work
    expect(mcp.tools()).toEqual(expect.arrayContaining(before.filter(({ name }) => name === 'mcp__bad__echo')))
  })
})

describe('over stdio', () => {
  it('a server that does not answer at all is restarted', async () => {
    const clock = simulatedClock()
    const frozen = await connected({ servers: { bad: faulty(newToken()) }, clock, reconnect })
    const time = simulatedClock()
    const turn = startTurn(frozen.tools(), [echo('bad', 'fault:freeze')], { clock: time })
    await eventually(() => turn.running() === 1)
    const results = turn.results()
    time.increment(120_000)
    expect((await results)[0]).toContain('Timeout')
    // a ping gets no answer
    await eventually(() => {
      clock.increment(5_000)
      return frozen.servers()[0]?.state !== 'ready'
    })
    await eventually(() => {
      clock.increment(5)
      return frozen.servers()[0]?.state === 'ready'
    })
    expect((await runTool(frozen.tools(), ...echo('bad', 'back'))).text).toBe('Echo: back')
  })

  it('a server that violates its own schemas is reported, and all its content is kept', async () => {
    const warnings: string[] = []
    const liar = await connected({
      servers: { bad: faulty(newToken(), { LIES: '1' }) },
      onWarning: ({ message }) => warnings.push(message),
    })
    const none = await runTool(liar.tools(), ...echo('bad', 'hi'))
    expect(none.isError).toBe(true)
    expect(none.text).toContain('violates the output schema of echo: it sent no structured content')
    expect(none.text).toContain('Echo: hi')
    const wrong = await runTool(liar.tools(), 'mcp__bad__get-structured-content', { location: 'Chicago' })
    expect(wrong.isError).toBe(true)
    expect(wrong.text).toContain('temperature should be string')
    expect(wrong.text).toContain('Light rain')
    expect(liar.tools().map(({ name }) => name)).not.toContain('mcp__bad__get-sum')
    expect(warnings).toContainEqual(
      expect.stringContaining('its tool "get-sum": its input schema is not of type object'),
    )
    // a schema that cannot be evaluated is left to the server
    expect((await runTool(liar.tools(), 'mcp__bad__get-env', { a: 1 })).isError).toBe(false)
  })

  it('a server that does not reconnect in time is an error with the reason, until reconnect()', async () => {
    const patient = await connected({
      servers: { bad: { ...faulty(newToken()), tools: { echo: { isSafe: false, isIdempotent: false } } } },
      reconnect: { minMs: 600_000, maxMs: 600_000 },
      waitMs: 1,
    })
    const died = await runTool(patient.tools(), ...echo('bad', 'fault:die'))
    expect([died.isError, died.text.includes('It was tried')]).toEqual([true, false])
    expect(patient.servers()).toMatchObject([{ state: 'backingOff', problem: expect.stringContaining('code 3') }])
    const { text } = await runTool(patient.tools(), ...echo('bad', 'hello?'))
    expect(text).toMatch(
      /bad is not connected \(backingOff\)\. Last problem: the server exited with code 3.* The call was not sent/,
    )
    expect([patient.reconnect('bad'), patient.reconnect('nobody')]).toEqual([true, false])
    await eventually(() => patient.servers()[0]?.state === 'ready')
    expect((await runTool(patient.tools(), ...echo('bad', 'hello'))).text).toBe('Echo: hello')
  })

  it('a server that ignores TERM, and one with a detached child, leave no process', async () => {
    const own = newToken()
    const stubborn = await connected({ servers: { bad: faulty(own, { IGNORES_EOF: '1', ESCAPES: '1' }) } })
    await eventually(async () => (await processesWith(own)).some((line) => line.includes('sleep 1000')))
    await stubborn.close()
    expect(await processesWith(own)).toEqual([])
  })

  it('a server that cannot be started, or exits at once, loses only its own tools, with the reason', async () => {
    const mixed = await connected({
      servers: {
        none: { command: '/nowhere/at/all' },
        short: { command: process.execPath, args: ['-e', 'console.error("no licence"); process.exit(7)'] },
        good: everything(newToken()),
      },
      reconnect: { ...reconnect, attempts: 2 },
    })
    await eventually(() => mixed.servers()[1]?.state === 'failed')
    expect(mixed.servers().map(({ state }) => state)).toEqual(['failed', 'failed', 'ready'])
    expect(mixed.servers()[0]?.problem).toContain('/nowhere/at/all was not found')
    expect(mixed.servers()[1]?.problem).toMatch(/exited with code 7; its stderr ends with: no licence/)
    expect((await runTool(mixed.tools(), ...echo('good', 'fine'))).text).toBe('Echo: fine')
  })
})

describe('over HTTP, a server that', () => {
  let mixed: Mcp
  beforeAll(async () => {
    mixed = await connected(
      {
        servers: {
          good: everything(token),
          bad: { ...overHttp, maxMessageBytes: 4_000_000, maxNotifications: 300, tools },
        },
        reconnect,
      },
      after,
    )
  })

  it.each<Fault>([
    ['breaks the connection', 'die', /The connection to bad broke/],
    ['ends its stream in the middle of its answer', 'half', /broke before the response arrived/],
    ['sends a message that never ends', 'huge', /broke/],
    ['floods', 'flood', /broke/],
    ['answers with a status of its own', 'broken', /bad returned HTTP 500/],
    ...inFull('has forgotten the session', 'forgotten', /no longer knows this session/),
  ])('%s fails one call, and works for the next', async (_what, fault, problem) => {
    const lines = await startTurn(mixed.tools(), turnWith(fault)).results()
    expect(others(lines)).toEqual(theOthers)
    expect(lines[2]).toMatch(/^call_2 failed/)
    expect(lines[2]).toMatch(problem)
    expect((await runTool(mixed.tools(), ...echo('bad', 'again'))).text).toBe('Echo: again')
  })

  it('sends invalid messages fails no call', async () => {
    const lines = await startTurn(mixed.tools(), turnWith('garbage')).results()
    expect([...others(lines), lines[2]]).toEqual([...theOthers, 'call_2: Echo: fault:garbage'])
  })

  it('never answers gets the cancellation, and no stream stays open', async () => {
    const turn = startTurn(mixed.tools(), [echo('bad', 'fault:hang')])
    await eventually(() => bridge.openStreams() === 1)
    const results = turn.results()
    turn.executor.abort('escape')
    expect((await results)[0]).toContain('The user stopped this call')
    await eventually(() => bridge.openStreams() === 0 && bridge.cancelled.length === 1)
  })

  it('was restarted is used again by the next call', async () => {
    bridge.restart()
    expect((await runTool(mixed.tools(), ...echo('bad', 'hello again'))).text).toBe('Echo: hello again')
  })
})
