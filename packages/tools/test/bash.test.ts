import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type AnyTool,
  allowAllTools,
  createAssistantMessage,
  query,
  StreamingToolExecutor,
  type ToolResultBlock,
  toApiMessages,
} from '../../../src/index.ts'
import { type ScriptItem, scriptedModel } from '../../../src/query/scripted/index.ts'
import { createTools, type ToolSetOptions } from '../src/index.ts'
import { put, runTool, scratch } from './bench.ts'
import { eventually, processesWith } from './processes.ts'

function bashIn(files: Record<string, string> = {}, shell: ToolSetOptions['shell'] = {}) {
  const root = scratch(files)
  const { tools, close } = createTools({ root, shell })
  onTestFinished(close)
  const bash = (command: string, more: object = {}) => runTool(tools, 'Bash', { command, ...more })
  const tool = tools.find(({ name }) => name === 'Bash')
  return { root, tools, bash, close, isSafe: (command: string) => tool?.isConcurrencySafe?.({ command }) }
}

describe('Bash', () => {
  it('returns stdout and stderr in order', async () => {
    const { bash } = bashIn()
    const { text, isError, progress } = await bash('echo one; echo two >&2; echo three; echo four >&2')
    expect([text, isError]).toEqual(['one\ntwo\nthree\nfour', false])
    expect(progress.map(({ data }) => (data as { text: string }).text).join('')).toBe('one\ntwo\nthree\nfour\n')
    expect((await bash('true')).text).toBe('(no output)')
    // half a character is kept
    expect((await bash(`printf 'a\\xe2\\x82'`)).text).toBe('a\ufffd')
  })

  it('reports the exit code of a failure, and accepts exit codes that are answers', async () => {
    const { bash } = bashIn({ 'a.txt': 'alpha\n', 'b.txt': 'beta\n' })
    expect(await bash('echo no; exit 3')).toMatchObject({ text: 'no\n[Exit code 3]', isError: true })
    expect(await bash('grep gamma a.txt')).toMatchObject({ text: '(no output)\n[Exit code 1]', isError: false })
    expect(await bash('diff a.txt b.txt')).toMatchObject({ isError: false })
    expect(await bash('grep gamma none.txt')).toMatchObject({ isError: true })
    expect(await bash('kill -9 $$')).toMatchObject({ text: '(no output)\n[Killed by SIGKILL]', isError: true })
    expect(await bash('echo "open')).toMatchObject({ isError: true })
  })

  it('keeps the working directory across calls, and nothing else', async () => {
    const { root, bash } = bashIn({ 'sub/deep/a.txt': 'x' })
    await bash('cd sub/deep; X=1')
    expect((await bash('pwd; echo "x$X"')).text).toBe(`${root}/sub/deep\nx`)
    await bash('cd .. && false')
    expect((await bash('pwd')).text).toBe(`${root}/sub`)
    await bash('cd deep; exit 0')
    expect((await bash('pwd')).text).toBe(`${root}/sub/deep`)
  })

  it('resets the folder if the shell leaves the workspace or its folder is deleted', async () => {
    const { root, bash } = bashIn()
    expect((await bash('cd /; pwd')).text).toBe(
      `/\n[The command left the workspace. The working directory was reset to ${root}.]`,
    )
    expect((await bash('pwd')).text).toBe(root)
    await bash(`mkdir gone; cd gone`)
    await bash(`cd ${root}; rmdir gone; cd ${root}`)
    await bash('mkdir gone; cd gone; rmdir ../gone')
    expect((await bash('pwd')).text).toBe(root)
  })

  it('runs alone with any cd, in every folder', () => {
    const { root, isSafe } = bashIn({ 'sub/a.txt': 'x' })
    expect(['ls', 'cat a.txt | wc -l', 'echo cd sub'].map(isSafe)).toEqual([true, true, true])
    const unsafe = [
      'touch x',
      'ls > x',
      'cd sub && ls',
      `cd ${root} && ls`,
      'cd . && ls',
      'cd',
      'pushd sub && ls',
      'popd',
    ]
    expect(unsafe.filter((command) => isSafe(command))).toEqual([])
  })

  it('needs no rule for a cd to the current folder, and accepts exit codes that are answers there', async () => {
    const { root, tools } = bashIn({ 'a.txt': 'x', 'sub/a.txt': 'y' })
    const context = { permissions: { mode: 'dontAsk', allow: ['Bash(cat *)', 'Bash(grep *)'] } } as const
    const bash = (command: string) => runTool(tools, 'Bash', { command }, { context })
    expect((await bash(`cd ${root} && cat a.txt`)).text).toBe('x')
    expect(await bash(`cd ${root} && grep none a.txt`)).toMatchObject({ isError: false })
    expect(await bash(`cd ${root}/sub && touch b.txt`)).toMatchObject({ isError: true })
    const plan = { context: { permissions: { mode: 'plan' } } } as const
    expect((await runTool(tools, 'Bash', { command: `cd ${root} && cat a.txt` }, plan)).text).toBe('x')
    expect((await runTool(tools, 'Bash', { command: 'cd sub && cat a.txt' }, plan)).isError).toBe(true)
  })

  it('has an empty stdin', async () => {
    const { bash } = bashIn()
    expect((await bash('cat; read x; echo "done $?"')).text).toBe('done 1')
    expect((await bash('test -t 0 || echo none; (: </dev/tty) 2>/dev/null || echo no terminal')).text).toBe(
      'none\nno terminal',
    )
  })

  it('gets only a few variables of the host', async () => {
    process.env.SIGNALBOX_TEST_SECRET = 'secret'
    process.env.BASH_ENV = '/nowhere/evil.sh'
    onTestFinished(() => {
      delete process.env.SIGNALBOX_TEST_SECRET
      delete process.env.BASH_ENV
    })
    const { bash } = bashIn({}, { env: { MINE: 'given' } })
    const { text } = await bash('env; alias; declare -F')
    expect(text).not.toMatch(/secret|evil/)
    expect(text).toContain('MINE=given')
  })

  it('keeps the beginning and the end of a long output, and says how much is missing', async () => {
    const { bash } = bashIn({}, { maxOutputChars: 200 })
    const { text } = await bash('seq 1 10000; echo end')
    expect(text).toMatch(/^1\n2\n[\s\S]*characters left out[\s\S]*10000\nend$/)
    expect(text.length).toBeLessThan(400)
  })

  it('stops a command that prints too much', async () => {
    const { bash } = bashIn({}, { maxOutputBytes: 1_000_000 })
    const { text, isError } = await bash('yes')
    expect([isError, text.slice(-120)]).toEqual([true, expect.stringContaining('printed more than')])
  })

  it('accepts invalid bytes and incomplete characters', async () => {
    const { bash } = bashIn()
    expect((await bash(`printf '\\xc3'; sleep 0.05; printf '\\xa9\\xff\\0x'`)).text).toBe('é\ufffd\0x')
  })

  it('stops a command that times out, and says what to do', async () => {
    const { bash } = bashIn()
    const { text, isError } = await bash('echo begun; sleep 1000', { timeout: 2_000 })
    expect([isError, text]).toEqual([true, expect.stringMatching(/^begun\n\[The command timed out/)])
  })

  it('rejects an invalid command', async () => {
    const { bash } = bashIn()
    expect((await bash('  ')).text).toContain('empty')
    expect((await bash('echo \0')).text).toContain('NUL')
    expect((await bash(`echo ${'x'.repeat(200_000)}`)).text).toContain('longer than')
    const { tools } = createTools({ root: scratch(), shell: { bash: '/not/there' } })
    expect((await runTool(tools, 'Bash', { command: 'ls' })).text).toContain('could not be started')
  })

  it('A2 a failing command cancels commands with effects, but no reads; an exit code that is an answer cancels nothing', async () => {
    const { tools } = bashIn({ 'a.txt': 'x' })
    const results = async (command: string): Promise<unknown[]> => {
      const executor = new StreamingToolExecutor(tools, async () => ({ behavior: 'allow' }), {})
      const message = createAssistantMessage([])
      executor.addTool({ type: 'tool_use', id: 'a', name: 'Bash', input: { command } }, message)
      executor.addTool({ type: 'tool_use', id: 'b', name: 'Read', input: { file_path: 'a.txt' } }, message)
      executor.addTool({ type: 'tool_use', id: 'c', name: 'Bash', input: { command: 'touch c; echo c' } }, message)
      const contents: unknown[] = []
      for await (const { message: each } of executor.getRemainingResults()) {
        if (each.type === 'user') contents.push((each.message.content[0] as ToolResultBlock).content)
      }
      return contents
    }
    expect((await results('grep nothing a.txt; grep nothing a.txt')).slice(1)).toEqual(['     1\tx', 'c'])
    const [, read, command] = await results('touch made; false')
    expect(read).toBe('     1\tx')
    expect(command).toContain('parallel tool call Bash(touch made; false) errored')
  })
})

describe('no process is left of a command', () => {
  const stubborn = [
    ['a child in the background', 'sleep 1000 &'],
    ['a child that ignores TERM', `(trap '' TERM; sleep 1000) & sleep 0.1`],
    ['a child in a session of its own', 'setsid sleep 1000 & sleep 0.1'],
    ['a grandchild whose parent is gone', '(setsid bash -c "sleep 1000 & sleep 1000 & exit" &); sleep 0.1'],
    [
      'a child that holds the output',
      `(setsid bash -c "trap '' TERM HUP; exec sleep 1000" >/dev/null 2>&1 &); sleep 0.1`,
    ],
    ['a child of nohup', 'nohup sleep 1000 >/dev/null 2>&1 &'],
    ['a child that was stopped', 'sleep 1000 & kill -STOP $!'],
  ] as const

  it.each(stubborn)('that ends with %s', async (_, command) => {
    const token = `signalbox-${Math.random().toString(36).slice(2)}`
    const { bash } = bashIn({}, { killGraceMs: 100, env: { TOKEN: token } })
    await bash(`${command}\necho over`)
    expect(await processesWith(token)).toEqual([])
  })

  it.each(stubborn)('that times out with %s', async (_, command) => {
    const token = `signalbox-${Math.random().toString(36).slice(2)}`
    const { bash } = bashIn({}, { killGraceMs: 100, env: { TOKEN: token } })
    const { text } = await bash(`trap '' TERM\n${command}\nsleep 1000`, { timeout: 400 })
    expect(text).toContain('timed out')
    expect(await processesWith(token)).toEqual([])
  })

  it('that lets its children clean up', async () => {
    const { root, bash } = bashIn({}, { killGraceMs: 5_000 })
    await bash(`trap 'echo cleaned > cleaned; exit' TERM; echo ready; while :; do sleep 0.05; done`, { timeout: 500 })
    expect(readFileSync(join(root, 'cleaned'), 'utf8')).toBe('cleaned\n')
  })

  it('that is aborted', async () => {
    const token = `signalbox-${Math.random().toString(36).slice(2)}`
    const { root, tools } = bashIn({}, { killGraceMs: 100, env: { TOKEN: token } })
    const executor = new StreamingToolExecutor(tools, async () => ({ behavior: 'allow' }), {})
    const command = 'touch begun; setsid sleep 1000 & sleep 1000'
    executor.addTool({ type: 'tool_use', id: 'a', name: 'Bash', input: { command } }, createAssistantMessage([]))
    await eventually(() => existsSync(join(root, 'begun')))
    executor.abort('escape')
    for await (const _ of executor.getRemainingResults());
    expect(await processesWith(token)).toEqual([])
  })
})

describe('a command that never started', () => {
  it('has no effects, even if it was stopped during wrapCommand', async () => {
    const root = scratch()
    const host = new AbortController()
    const { tools } = createTools({
      root,
      shell: {
        wrapCommand: async (plain) => {
          host.abort('escape')
          return plain
        },
      },
    })
    const { text } = await runTool(tools, 'Bash', { command: 'touch made' }, { context: { abortController: host } })
    expect(text).toContain('The user stopped this call')
    expect(existsSync(join(root, 'made'))).toBe(false)
  })
})

/** A query in which the model says what the test wants, and each reply waits for the test. */
function talk(tools: readonly AnyTool[]) {
  const replies: ((items: ScriptItem[]) => void)[] = []
  const model = scriptedModel(
    Array.from({ length: 12 }, () => () => new Promise<ScriptItem[]>((resolve) => replies.push(resolve))),
  )
  const run = query({ messages: 'go', tools, model, canUseTool: allowAllTools })
  const over = (async () => {
    for await (const _ of run);
    return run.result?.reason
  })()
  const reply = async (...items: ScriptItem[]): Promise<string> => {
    await eventually(() => replies.length > 0)
    replies.shift()?.(items)
    await eventually(() => replies.length > 0 || run.result !== undefined)
    const last = toApiMessages(run.transcript).at(-1)
    return JSON.stringify(last?.content ?? '')
  }
  return { run, over, reply }
}

describe('background runs', () => {
  it('X7 that do not start report the reason', async () => {
    const { tools } = bashIn({}, { bash: '/no/such/bash' })
    const { reply, over } = talk(tools)
    await reply({ call: 'Bash', input: { command: 'echo one', run_in_background: true } })
    expect(await reply({ call: 'BackgroundOutput', input: { id: 'bg_1', waitMs: 60_000 } })).toContain(
      'bash could not be started: /no/such/bash was not found',
    )
    await reply('done')
    expect(await over).toBe('completed')
  })

  it('X1 X7 have an id, can be listed, read and stopped, and end with the query', async () => {
    const token = `signalbox-${Math.random().toString(36).slice(2)}`
    const { root, tools } = bashIn({}, { env: { TOKEN: token } })
    const { reply, over, run } = talk(tools)
    const background = (command: string) => ({ call: 'Bash', input: { command, run_in_background: true } })
    expect(await reply(background('echo one; touch begun; sleep 1000'))).toContain(
      'Running in the background as bg_1. You will get its result when it is done; do not guess it.',
    )
    await eventually(() => existsSync(join(root, 'begun')))
    const look = (id: string, waitMs?: number) => reply({ call: 'BackgroundOutput', input: { id, waitMs } })
    let first = await look('bg_1')
    // the file may be there before the output has been read
    while (first.includes('(no new output)')) first = await look('bg_1')
    expect(first).toContain('[bg_1: running] Bash(echo one; touch begun; sleep 1000)\\none')
    expect(await look('bg_1')).toContain('(no new output)')
    expect(await reply({ call: 'BackgroundList' })).toContain('[bg_1: running] Bash(echo one')
    await reply(background('echo four; exit 4'))
    const failed = await look('bg_2', 60_000)
    expect(failed).toContain('[bg_2: failed]')
    expect(failed).toContain('four\\n[Exit code 4]')
    expect(await reply({ call: 'BackgroundStop', input: { id: 'bg_1' } })).toContain('[bg_1: stopped]')
    expect(await look('bg_9')).toContain('Known ids: bg_1, bg_2.')
    await reply(background('setsid sleep 1000'))
    await reply('done')
    expect(await over).toBe('completed')
    expect(await processesWith(token)).toEqual([])
    // what a call has read is not told a second time
    const outcomes = run.transcript.filter((message) => message.type === 'user' && message.background !== undefined)
    expect(outcomes).toEqual([])
  })

  it('X7 at most so many at once, and none where no query takes them', async () => {
    const { tools, bash } = bashIn()
    expect((await bash('echo one', { run_in_background: true })).text).toContain(
      'nothing can run in the background here',
    )
    const run = query({
      messages: 'go',
      tools,
      model: scriptedModel([[{ call: 'Bash', input: { command: 'sleep 100', run_in_background: true } }], 'done']),
      canUseTool: allowAllTools,
      maxBackground: 0,
    })
    for await (const _ of run);
    expect(JSON.stringify(toApiMessages(run.transcript))).toContain('too many calls run in the background')
  })
})

describe('wrapCommand', () => {
  it('changes the program', async () => {
    const { root, bash } = bashIn(
      {},
      { wrapCommand: (plain) => ({ ...plain, file: 'env', args: ['WRAPPED=yes', plain.file, ...plain.args] }) },
    )
    mkdirSync(join(root, 'sub'))
    expect((await bash('echo $WRAPPED; cd sub')).text).toBe('yes')
    expect((await bash('pwd')).text).toBe(join(root, 'sub'))
  })

  it('that fails is reported, and nothing runs', async () => {
    const { root, bash } = bashIn(
      {},
      {
        wrapCommand: () => {
          throw new Error('no sandbox here')
        },
      },
    )
    expect((await bash('touch made')).text).toContain('no sandbox here')
    expect(existsSync(put(join(root, 'other'), '')) && existsSync(join(root, 'made'))).toBe(false)
  })
})
