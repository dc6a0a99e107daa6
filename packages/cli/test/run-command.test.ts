import { spawnSync } from 'node:child_process'
import { appendFileSync, createReadStream, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Frame, readFrames } from '../../../src/inspect/index.ts'
import { checkRecording } from '../../../src/testing/index.ts'
import { callBlock, textBlock } from '../../../test/support/held-model.ts'
import { sse, sseServer, startSse } from '../../../test/support/sse-server.ts'
import { programOf } from '../../mcp/test/support.ts'
import { runCli } from '../src/run-cli.ts'
import { fakeIo } from './fake-io.ts'
import { builtCli, makeScript, run, start, temporaryFolder } from './support.ts'

const cli = builtCli()
const folder = temporaryFolder()
let count = 0

/** A workspace with a file, and a script beside it. */
function scene(script: unknown, name = 'turns.json') {
  const place = join(folder, `scene${++count}`)
  const root = join(place, 'work')
  mkdirSync(root, { recursive: true })
  writeFileSync(join(root, 'a.txt'), 'one\ntwo\nthree\n')
  const path = makeScript(place, name, script)
  const args = ['run', '--script', path, '--cwd', root]
  return { place, root, path, args, transcript: join(place, 't.jsonl'), recording: join(place, 'r.jsonl') }
}

const bash = (command: string) => ({ call: 'Bash', input: { command } })
const edit = { call: 'Edit', input: { file_path: 'a.txt', old_string: 'two', new_string: 'TWO' } }
const read = { call: 'Read', input: { file_path: 'a.txt' } }
const untilThere = (path: string) => bash(`echo waiting; while [ ! -e ${path} ]; do sleep 0.05; done; echo there`)
/** For tests that need no process of their own. */
async function inProcess(...args: string[]) {
  const { io, printed } = fakeIo()
  return { code: await runCli(args, io), ...printed }
}
const checked = (path: string) => inProcess('check', path)

describe('signalbox run without a terminal', () => {
  it('has the tools of MCP servers too, and reports a missing server', async () => {
    const echo = { call: 'mcp__every__echo', input: { message: 'over there' } }
    const { args, place, root, recording } = scene([[echo], 'Heard it.'])
    const file = join(place, '.mcp.json')
    const every = { command: process.execPath, args: [programOf('everything'), 'stdio'] }
    writeFileSync(file, JSON.stringify({ mcpServers: { every, none: { command: '/nowhere/at/all' } } }))
    const { code, out, err } = await inProcess(
      ...[...args, '--mcp', file, '--allow', 'mcp__every__echo', '--record', recording],
    )
    expect([code, err]).toEqual([
      0,
      expect.stringContaining('the MCP server none is not connected: the server could not be started'),
    ])
    expect(out).toContain('Echo: over there')
    // the recording contains the connections, from the first attempt to the end
    const frames: Frame[] = []
    for await (const frame of readFrames(createReadStream(recording))) frames.push(frame)
    const numbers = new Map(frames.flatMap((frame) => (frame.type === 'server' ? [[frame.name, frame.run]] : [])))
    const eventsOf = (name: string) =>
      frames.flatMap((frame) => (frame.run === numbers.get(name) && frame.type === 'event' ? [frame.event] : []))
    expect(eventsOf('every')).toEqual(['connection.opened', 'connection.proved', 'connection.close'])
    expect(eventsOf('none')).toEqual(['connection.failed', 'connection.close'])
    const bad = join(root, 'bad.json')
    writeFileSync(bad, '{}')
    expect(await inProcess(...args, '--mcp', bad)).toMatchObject({
      code: 2,
      err: expect.stringContaining('mcpServers'),
    })
  })

  it('prints a line for each change, without colours and without redrawing', async () => {
    const { args } = scene({ prompt: 'Change two.', turns: [['I look.', read], [edit], 'Done it.'] })
    const { code, out, err } = await run(cli, [...args, '--permission-mode', 'acceptEdits'])
    expect([code, err]).toEqual([0, ''])
    const lines = out.replace(/\d+ ms|\d\.\d s/g, 'TIME').split('\n')
    expect(lines.filter((line) => !line.endsWith('runs') && !line.endsWith('gone on'))).toEqual([
      '> Change two.',
      'I look.',
      '✓ #1 Read(a.txt) · TIME, 3 lines',
      '✓ #2 Edit(a.txt) · TIME',
      '  │ @@ -1,3 +1,3 @@',
      '  │  one',
      '  │ -two',
      '  │ +TWO',
      '  │  three',
      'Done it.',
      '· Done: 3 turns, 2 calls, TIME',
      '',
    ])
  })

  it('denies calls that need an answer, and says how to allow them; rules and modes come first', async () => {
    const { args, root } = scene([[bash('touch made.txt')], 'Well.'])
    const denied = await run(cli, args)
    expect(denied.code).toBe(0)
    expect(denied.out).toContain(
      "#1 Bash was denied: there is no terminal to ask. Allow it with --allow 'Bash(touch made.txt)'.",
    )
    expect(existsSync(join(root, 'made.txt'))).toBe(false)
    await inProcess(...args, '--allow', 'Bash(touch *)', '--deny', 'Bash(touch made.txt)')
    expect(existsSync(join(root, 'made.txt'))).toBe(false)
    await inProcess(...args, '--allow', 'Bash(touch made.txt)')
    expect(existsSync(join(root, 'made.txt'))).toBe(true)
  })

  it.each(['allow', 'ask', 'deny'])('a rule that cannot be parsed is an error that names --%s', async (option) => {
    const { io, printed } = fakeIo()
    expect(await runCli(['run', `--${option}`, 'Bash(', 'hi'], io)).toBe(2)
    expect(printed.err).toContain(
      `error: option '--${option} <rule>' argument 'Bash(' is invalid. rule "Bash(", position 5: expected ")" at the end.`,
    )
  })

  it('a rule for an unknown tool is an error, a rule that allows any program is reported', async () => {
    const { args } = scene(['Done.'])
    expect(await run(cli, [...args, '--deny', 'Bsh(rm *)', 'Go.'])).toMatchObject({ code: 2 })
    const { code, err } = await run(cli, [...args, '--allow', 'Bash(node:*)', 'Go.'])
    expect([code, err]).toEqual([0, expect.stringContaining('Bash(node:*) lets the model run any program')])
  })

  it('with --json prints one object per line and nothing else', async () => {
    const { args } = scene([['I look.', bash('sleep 0.1'), read], 'Done.'])
    const { code, out, err } = await run(cli, [...args, '--json', '--allow', 'Bash(sleep *)', 'Look.'])
    expect([code, err]).toEqual([0, ''])
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines[0]).toMatchObject({
      type: 'begin',
      prompt: 'Look.',
      model: 'script',
      tools: expect.arrayContaining(['Read']),
    })
    expect(lines.at(-1)).toMatchObject({ type: 'end', reason: 'completed', exitCode: 0, turns: 2, calls: 2 })
    expect(new Set(lines.map(({ type }) => type))).toEqual(new Set(['begin', 'message', 'call', 'end']))
    const phases = lines.filter(({ type, name }) => type === 'call' && name === 'Read').map(({ phase }) => phase)
    expect(phases.at(-1)).toBe('delivered')
    expect(phases).toContain('heldForOrder')
    const held = lines.find(({ phase }) => phase === 'heldForOrder')
    expect(held).toMatchObject({ id: 'toolu_2', number: 2, lane: 'shared', waitsFor: ['toolu_1'] })
    expect(lines.filter(({ message }) => message?.type === 'user')).toHaveLength(2)
  })

  it('--quiet prints only the last text', async () => {
    const { args } = scene([
      ['I look.', read],
      ['The answer', ' is three.'],
    ])
    expect(await run(cli, [...args, '--quiet'])).toMatchObject({ code: 0, out: 'The answer\n is three.\n', err: '' })
  })

  it('heeds FORCE_COLOR, and NO_COLOR before it', async () => {
    const { args } = scene([[read], 'Done.'])
    const sequence = '\u001b['
    expect((await run(cli, args, { env: { FORCE_COLOR: '1' } })).out).toContain(sequence)
    expect((await run(cli, args, { env: { FORCE_COLOR: '1', NO_COLOR: '1' } })).out).not.toContain(sequence)
  })

  it('reads a piped prompt', async () => {
    const { args } = scene(['Hello.'])
    expect((await run(cli, [...args, '-'], { input: 'From a pipe.\n' })).out).toContain('> From a pipe.')
  })

  it('ends quietly when its output is closed', () => {
    const { args } = scene([[bash('seq 2000')], 'Done.'])
    const words = [process.execPath, cli, ...args].map((word) => `'${word}'`).join(' ')
    const { stdout, stderr } = spawnSync('bash', ['-c', `${words} | head -n 1`], { encoding: 'utf8' })
    expect([stdout, stderr]).toEqual(['> Play the script.\n', ''])
  })
})

describe('errors in the command line say what to do', () => {
  const ok = scene(['Hello.'])
  it.each([
    [['run'], 'Missing prompt'],
    [['run', 'Hello.'], 'export ANTHROPIC_API_KEY'],
    [['run', '--script', 'nowhere.json'], 'nowhere.json: no such file'],
    [[...ok.args, '--cwd', '/nowhere'], '--cwd /nowhere: no such folder'],
    [[...ok.args, '--tools', 'Read,Dance'], 'Unknown tool Dance. Known tools: Read, Write'],
    [[...ok.args, '--allow', 'Bash('], 'expected ")" at the end'],
    [[...ok.args, '--transcript', ok.path], 'the file already exists'],
    [[...ok.args, '--record', '/nowhere/r.jsonl'], 'no such file'],
    [[...ok.args, '--resume', ok.path], 'cannot be continued'],
  ])('%j', async (args, problem) => {
    const { code, out, err } = await inProcess(...args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(problem)
    expect(err).not.toContain('    at ')
  })

  it.each([
    ['{', 'is not valid JSON'],
    [{ turns: [] }, 'has no turns'],
    [{ turns: 'x' }, 'turns: '],
    [{ turns: ['x'], pase: 3 }, 'pase'],
    [['Hello.', 7], 'turn 2: expected a string or an array of items, received a number'],
    [[['Hello.', { wait: 'long' }]], 'turn 1, item 2 (wait): wait: '],
    [[[{ call: 'Read', inptu: {} }]], 'turn 1, item 1 (call): '],
    [[[{ speak: 'x' }]], 'an object with speak'],
  ])('a script such as %j', async (script, problem) => {
    const { args } = scene(script)
    const { code, err } = await inProcess(...args)
    expect([code, err]).toEqual([2, expect.stringContaining(problem)])
  })
})

describe('how a run ends', () => {
  it.each([
    [
      'a model that fails',
      [[{ error: { message: 'no such thing', status: 400 } }]],
      [],
      1,
      'The model failed: no such thing',
    ],
    ['a script that is over', [[read]], [], 1, 'The script has ended'],
    ['too many turns', [[read], [read], 'Done.'], ['--max-turns', '2'], 4, 'Stopped by --max-turns'],
    [
      'a limit',
      [[read], [read], 'Done.'],
      ['--limit', 'turns=1', '--limit', 'calls=9'],
      4,
      'Stopped by the limit turns (1 of 1)',
    ],
    ['too many calls', [[read, read], 'Done.'], ['--limit', 'calls=1'], 4, 'Stopped by the limit calls (1 of 1)'],
  ])('%s', async (_, turns, more, code, words) => {
    const { args, transcript } = scene(turns)
    const ended = await inProcess(...args, ...more, '--transcript', transcript)
    expect([ended.code, ended.out]).toEqual([code, expect.stringContaining(words)])
    expect((await checked(transcript)).code).toBe(0)
  })

  it('an overloaded model is asked again, and its partial reply is dropped', async () => {
    const { args, transcript } = scene([['Half a', { error: { message: 'Overloaded.', status: 529 } }], 'Whole.'])
    const { code, out } = await inProcess(...args, '--transcript', transcript)
    expect([code, out]).toEqual([0, expect.stringContaining('The reply failed (overloaded: Overloaded). Retrying')])
    const kept = readFileSync(transcript, 'utf8')
    expect([kept.includes('Whole.'), kept.includes('Half a')]).toEqual([true, false])
    expect((await checked(transcript)).code).toBe(0)
  })

  it('once interrupts: calls that must not be interrupted finish', async () => {
    const { args, transcript, root } = scene([[untilThere('go'), read], 'Never said.'])
    const it = start(cli, [...args, '--permission-mode', 'bypassPermissions', '--transcript', transcript])
    await it.printed('#1 Bash(echo waiting; while [ ! -e go ]; do slee…) · runs')
    it.child.kill('SIGINT')
    await it.printed('Ctrl+C again stops everything')
    writeFileSync(join(root, 'go'), '')
    const { code, out } = await it.ended
    expect(code).toBe(130)
    expect(out).toContain('✓ #1 Bash')
    expect(out).not.toContain('Never said.')
    expect((await checked(transcript)).code).toBe(0)
  })

  it('twice aborts', async () => {
    const { args, transcript } = scene([[untilThere('go'), read], 'Never said.'])
    const it = start(cli, [...args, '--permission-mode', 'bypassPermissions', '--transcript', transcript])
    await it.printed('· runs')
    it.child.kill('SIGINT')
    await it.printed('Ctrl+C again stops everything')
    it.child.kill('SIGINT')
    const { code, out } = await it.ended
    expect(code).toBe(130)
    expect(out).toContain('⊘ #1 Bash')
    expect((await checked(transcript)).code).toBe(0)
  })

  it('three times exits at once, and the transcript contains the conversation', async () => {
    const stubborn = bash(`trap '' TERM; echo here; while :; do sleep 0.05; done`)
    const { args, transcript } = scene([[read], ['Now.', stubborn, read], 'Never said.'])
    const it = start(cli, [...args, '--permission-mode', 'bypassPermissions', '--transcript', transcript])
    await it.printed('#2 Bash')
    it.child.kill('SIGINT')
    await it.printed('Ctrl+C again stops everything')
    it.child.kill('SIGINT')
    await it.printed('Ctrl+C again exits at once')
    it.child.kill('SIGINT')
    expect((await it.ended).code).toBe(130)
    expect((await checked(transcript)).code).toBe(0)
    expect(readFileSync(transcript, 'utf8')).toContain("trap '' TERM")
  })

  it('SIGTERM stops everything', async () => {
    const { args, transcript } = scene([[untilThere('go')], 'Never said.'])
    const it = start(cli, [...args, '--permission-mode', 'bypassPermissions', '--transcript', transcript])
    await it.printed('· runs')
    it.child.kill('SIGTERM')
    expect((await it.ended).code).toBe(143)
    expect((await checked(transcript)).code).toBe(0)
  })

  it('killed at any moment, it leaves a valid transcript except for an incomplete line, and can continue', async () => {
    const turns = [...Array.from({ length: 40 }, () => ['More.', read, bash('sleep 0.01'), read]), 'Done.']
    const { path } = scene(['I am back.'])
    for (const moment of ['#1 ', '#8 ', '#31 ']) {
      const { args, transcript } = scene(turns)
      const it = start(cli, [...args, '--permission-mode', 'bypassPermissions', '--transcript', transcript])
      await it.printed(moment)
      it.child.kill('SIGKILL')
      expect((await it.ended).signal).toBe('SIGKILL')
      const { code, out } = await inProcess('check', transcript, '--json')
      const { faults } = JSON.parse(out)
      expect([
        code === 0 || code === 3,
        faults.filter((fault: { code: string }) => fault.code !== 'torn_line'),
      ]).toEqual([true, []])
      // the state after a kill in the middle of a write
      appendFileSync(transcript, '{"type":"us')
      expect(await checked(transcript)).toMatchObject({ code: 3, out: expect.stringContaining('torn_line') })
      const refused = await inProcess('run', '--script', path, '--resume', transcript, 'Go on.')
      expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('To repair it: signalbox check')])
      expect((await inProcess('check', transcript, '--repair')).code).toBe(0)
      const messages = readFileSync(transcript, 'utf8').split('\n').length
      const again = await inProcess('run', '--script', path, '--resume', transcript, 'Go on.')
      expect([again.code, again.out]).toEqual([0, expect.stringContaining('I am back.')])
      expect((await checked(transcript)).code).toBe(0)
      expect(readFileSync(transcript, 'utf8').split('\n').length).toBeGreaterThan(messages)
    }
  })
})

describe('signalbox replay', () => {
  it('prints a recording as it was seen', async () => {
    const { args, recording } = scene({ prompt: 'Look.', turns: [['I look.', read, bash('seq 3')], [edit], 'Done.'] })
    const live = await run(cli, [...args, '--permission-mode', 'bypassPermissions', '--record', recording])
    const { code, out, err } = await inProcess('replay', recording)
    expect([code, err]).toEqual([0, ''])
    const finished = (text: string) =>
      text.split('\n').filter((line) => !line.includes('· runs') && !/waits|held/.test(line))
    expect(finished(out)).toEqual(finished(live.out))
    const frames: Frame[] = []
    for await (const frame of readFrames(createReadStream(recording))) frames.push(frame)
    expect(checkRecording(frames)).toEqual([])
  })

  it('reports a file that is not a recording', async () => {
    const { path } = scene(['Hello.'])
    expect(await inProcess('replay', path)).toMatchObject({
      code: 2,
      err: expect.stringContaining('Not a Signalbox recording'),
    })
    expect(await inProcess('replay', 'nowhere')).toMatchObject({
      code: 2,
      err: expect.stringContaining('no such file'),
    })
  })
})

it('runs a real model, with the client of Anthropic', async () => {
  const begin = (id: string) => ({
    type: 'message_start',
    message: { id, type: 'message', role: 'assistant', content: [] },
  })
  const end = (stop_reason: string) => [{ type: 'message_delta', delta: { stop_reason } }, { type: 'message_stop' }]
  const server = await sseServer((response, at) => {
    startSse(response)
    const first = [begin('m'), ...callBlock(0, 'toolu_a', 'Read', '{"file_path":"a.txt"}'), ...end('tool_use')]
    response.end(sse(at === 0 ? first : [begin('n'), ...textBlock(0, 'Three lines.'), ...end('end_turn')]))
  })
  const { root } = scene(['unused'])
  const env = { ANTHROPIC_API_KEY: 'none', ANTHROPIC_BASE_URL: server.url }
  const { code, out } = await run(cli, ['run', '--cwd', root, '--system', 'Be brief.', '--quiet', 'How many lines?'], {
    env,
  })
  await server.close()
  expect([code, out]).toEqual([0, 'Three lines.\n'])
  expect(server.requests).toHaveLength(2)
  expect(JSON.stringify(server.requests[0])).toContain('Be brief.')
  expect(JSON.stringify(server.requests[1])).toContain('three')
})
