import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Frame } from '../../../src/inspect/index.ts'
import type { InspectorServer } from '../../../src/inspect/server/index.ts'
import { scriptedModel } from '../../../src/query/scripted/index.ts'
import { runSession } from '../src/run/run-session.ts'
import { runCli } from '../src/run-cli.ts'
import { agentLine } from '../src/view/call-lines.ts'
import { fakeIo } from './fake-io.ts'
import { makeScript, temporaryFolder } from './support.ts'

const folder = temporaryFolder()
let count = 0

/** Runs a script in this process, in a workspace with a file. */
async function play(script: object, ...more: string[]) {
  const root = join(folder, `work${++count}`)
  mkdirSync(root)
  writeFileSync(join(root, 'a.txt'), 'one\ntwo\n')
  const path = makeScript(folder, `${count}.json`, script)
  const { io, printed } = fakeIo()
  const code = await runCli(['run', '--script', path, '--cwd', root, ...more], io)
  return { code, ...printed, root }
}
const agent = (prompt: string) => ({ call: 'Agent', input: { description: 'look', prompt } })
const read = { call: 'Read', input: { file_path: 'a.txt' } }
const touch = { call: 'Bash', input: { command: 'touch made' } }
const record = (name: string) => join(folder, name)

describe('the Agent of run', () => {
  it('works on a task with the same tools except itself, and is shown as one line with its progress', async () => {
    const recording = record('agent.jsonl')
    const script = {
      turns: [[agent('Read it.'), read], 'So it is.'],
      agent: [[agent('again'), read], 'It has two lines.'],
    }
    const { code, out, err } = await play(script, '--record', recording)
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^✓ #1 Agent\(look\) · .*\n {2}│ It has two lines\.$/m)
    expect(out).toMatch(/^✓ #2 Read/m)
    // its calls have no lines of their own, and it cannot start another agent
    expect(out).not.toContain('#3')
    const frames = readFileSync(recording, 'utf8')
    const progress = frames
      .split('\n')
      .filter((line) => line.includes('"agent_progress"'))
      .map((line) => agentLine(JSON.parse(line).data))
    expect(progress.at(-1)).toMatch(/^\d turns?, 2 calls, latest Read\(a\.txt\)$/)
    const runs = frames
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Frame)
      .filter((frame) => frame.type === 'run')
    // the recording contains what the agent did
    expect(runs.map(({ title, parentToolUseID }) => [title, parentToolUseID !== undefined])).toEqual([
      ['turn 1', false],
      ['Agent: look, turn 1', true],
      ['Agent: look, turn 2', true],
      ['turn 2', false],
    ])
    const played = fakeIo()
    expect(await runCli(['replay', recording], played.io)).toBe(0)
    expect(played.printed.out).toContain('It has two lines.')
    expect(played.printed.out).not.toContain('#3')
  })

  it('asks for permission like the conversation: a call runs only if a rule allows it', async () => {
    const script = { turns: [[agent('Make it.')], 'Well.'], agent: [[touch], 'Tried it.', [touch], 'Made it.'] }
    const denied = await play(script)
    expect(denied.out).toContain("Bash was denied: there is no terminal to ask. Allow it with --allow 'Bash(")
    const allowed = await play(script, '--allow', 'Bash(touch made)')
    expect([allowed.code, readFileSync(join(allowed.root, 'made'), 'utf8')]).toEqual([0, ''])
    const never = await play(script, '--deny', 'Agent')
    expect(never.out).toMatch(/^✗ #1 Agent\(look\) · did not run/m)
  })

  it('has its own turn limit, and says when it did not finish', async () => {
    const script = { turns: [[agent('Go on.')], 'Well.'], agent: [['Once.', read], ['Twice.', read], 'Never.'] }
    const { code, out } = await play(script, '--agent-turns', '2')
    expect(code).toBe(0)
    expect(out).toContain('[The agent did not finish: max_turns.]')
    expect(out).not.toContain('Never.')
  })

  it('is shown in the inspector while it works', async () => {
    const shown: unknown[] = []
    const inspector: InspectorServer = {
      url: '',
      add: (_run, { title } = {}) => {
        shown.push(title)
        return () => shown.push(`left: ${title}`)
      },
      close: async () => undefined,
    }
    await runSession(
      {
        prompt: 'go',
        model: scriptedModel([[agent('Look around.\nWell.')], 'So it is.']),
        modelName: 'script',
        tools: [],
        agent: { model: scriptedModel(['It is so.']), maxTurns: 3 },
        permissions: {},
        output: 'quiet',
        inspector,
      },
      fakeIo().io,
    )
    expect(shown).toEqual([undefined, 'Agent: look, turn', 'left: Agent: look, turn'])
  })

  it('that fails affects only its own call', async () => {
    const script = { turns: [[agent('Fail.'), read], 'Well.'], agent: [] }
    const { code, out } = await play(script)
    expect(code).toBe(0)
    expect(out).toMatch(/^✗ #1 Agent\(look\) · failed/m)
    expect(out).toContain('The script has ended')
    expect(out).toMatch(/^✓ #2 Read/m)
  })

  it('exists only with a model or script for it, and if it is requested', async () => {
    const none = await play({ turns: [[agent('x')], 'Well.'] })
    expect(none.out).toContain('✗ #1 Agent')
    expect(await play({ turns: ['Hm.'] }, '--tools', 'Agent')).toMatchObject({
      code: 2,
      err: expect.stringContaining('Unknown tool Agent.'),
    })
    const unwanted = await play({ turns: [[agent('x')], 'Well.'], agent: ['Never.'] }, '--tools', 'Read')
    expect(unwanted.out).not.toContain('Never.')
    expect(await play({ turns: ['Hm.'], agent: [[7]] })).toMatchObject({
      code: 2,
      err: expect.stringContaining('turn 1 of the agent, item 1'),
    })
  })
})

describe('the line of an agent', () => {
  it.each([
    [{ type: 'agent_progress', turns: 1, calls: 0 }, '1 turn, 0 calls'],
    [
      { type: 'agent_progress', turns: 2, calls: 3, newest: '\u001b[2JRead(a)\nb' },
      '2 turns, 3 calls, latest Read(a) b',
    ],
    [{ type: 'agent_progress', turns: 'x', calls: 3 }, undefined],
    [{ type: 'mcp_progress' }, undefined],
    [null, undefined],
    [['agent_progress'], undefined],
  ])('of %j is %j', (progress, line) => {
    expect(agentLine(progress)).toBe(line)
  })
})
