import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type AnyTool, createAssistantMessage, createToolUseContext, type PermissionReply } from '../../../src/index.ts'
import { flush } from '../../../test/support/turn.ts'
import { createTools } from '../../tools/src/index.ts'
import { alwaysRule } from '../src/run/always-rule.ts'
import type { Key } from '../src/run/keyboard.ts'
import { PermissionPrompts } from '../src/run/permission-prompts.ts'
import { colorsFor } from '../src/view/colors.ts'
import { SessionView } from '../src/view/session-view.ts'

const root = mkdtempSync(join(tmpdir(), 'signalbox-prompts-'))
const { tools, close } = createTools({ root })
afterAll(async () => {
  await close()
  rmSync(root, { recursive: true })
})
const toolOf = (name: string) => tools.find((tool) => tool.name === name) as AnyTool
const contextOf = (id: string) => ({ ...createToolUseContext(), toolUseID: id })
const byMode = { because: { by: 'mode', mode: 'default' } } as const
const key = (text: string): Key => ({ text, name: text, isCtrlC: false })
const named = (name: string): Key => ({ text: undefined, name, isCtrlC: false })
const canvas = { columns: 60, colors: colorsFor({}, { NO_COLOR: '1' }), now: 0 }

function openPrompts(keep?: (rules: readonly string[]) => string | undefined) {
  const notes: string[] = []
  let changed = (): void => undefined
  const prompts = new PermissionPrompts({
    session: new SessionView(),
    changed: () => changed(),
    note: (text) => notes.push(text),
    now: () => 0,
    keep,
  })
  const answers = new Map<string, PermissionReply>()
  const ask = async (id: string, name: string, input: Record<string, unknown>, question = byMode) => {
    const context = contextOf(id)
    const isAsked = new Promise<void>((resolve) => {
      changed = resolve
    })
    void Promise.resolve(prompts.ask(toolOf(name), input, context, createAssistantMessage([]), id, question)).then(
      (answer) => answers.set(id, answer),
    )
    await isAsked
    return context
  }
  return { prompts, answers, ask, notes }
}

describe('the rule of "always"', () => {
  it.each([
    ['Bash', { command: 'npm test' }, { rules: ['Bash(npm test)'] }],
    ['Bash', { command: 'cd src && npm test' }, { rules: ['Bash(cd src && npm test)'] }],
    ['Bash', { command: 'rm *' }, { rules: ['Bash(rm \\*)'] }],
    ['Bash', { command: "rm '*' a\\ b" }, { rules: ["Bash(rm '*' a' 'b)"] }],
    ['Bash', { command: 'echo "a && b"' }, { rules: ["Bash(echo a' && 'b)"] }],
    ['Bash', { command: 'echo $(rm x)' }, { because: 'no rule can match this command' }],
    ['Bash', { command: 'npm test > out.txt' }, { because: 'no rule can match this command' }],
    ['Write', { file_path: 'a/b.txt', content: '' }, { rules: ['Write(a/b.txt)'] }],
    ['WebFetch', { url: 'https://docs.example.com/x' }, { rules: ['WebFetch(url:https://docs.example.com/x)'] }],
    ['TaskCreate', { subject: 'x' }, { rules: ['TaskCreate'] }],
  ])('%s %j: %j', async (name, input, rule) => {
    expect(await alwaysRule(toolOf(name), input, contextOf('a'), byMode)).toEqual(rule)
  })

  it('is offered only if the rule would prevent the next prompt', async () => {
    const asked = { because: { by: 'rule', rule: 'Bash(npm *)' } } as const
    expect(await alwaysRule(toolOf('Bash'), { command: 'npm test' }, contextOf('a'), asked)).toEqual({
      because: 'a rule asks each time',
    })
    expect(
      await alwaysRule(toolOf('Write'), { file_path: '.git/x' }, contextOf('a'), { because: { by: 'tool' } }),
    ).toEqual({ because: 'this call always needs an answer' })
  })

  it('is not offered if the tool throws', async () => {
    const broken = {
      ...toolOf('Bash'),
      matchesRule: () => {
        throw new Error('no')
      },
    } as AnyTool
    expect(await alwaysRule(broken, { command: 'npm test' }, contextOf('a'), byMode)).toHaveProperty('because')
  })
})

describe('the permission prompts', () => {
  it('asks one after the other', async () => {
    const { prompts, answers, ask } = openPrompts()
    await ask('a', 'Bash', { command: 'touch a' })
    await ask('b', 'Bash', { command: 'touch b' })
    expect(prompts.lines(canvas).join('\n')).toContain('(1 more waits)')
    prompts.press(key('y'))
    await flush()
    expect(answers).toEqual(new Map([['a', { behavior: 'allow' }]]))
    expect(prompts.lines(canvas).join('\n')).toContain('touch b')
    prompts.press(key('x'))
    await flush()
    expect(prompts.isAsking).toBe(true)
  })

  it('the name of a tool is shown whole, however long it is', async () => {
    const { prompts } = openPrompts()
    const name = `mcp__files__${'read_'.repeat(20)}write\u202e`
    const tool = { ...toolOf('Bash'), name } as AnyTool
    void prompts.ask(tool, { command: 'x' }, contextOf('a'), createAssistantMessage([]), 'a', byMode)
    await flush()
    const lines = prompts.lines(canvas)
    expect(lines.join('').replace(/\s/g, '')).toContain(`${name.replace('\u202e', '⟨U+202E⟩')}run?`)
    expect(lines.every((line) => line.length <= canvas.columns)).toBe(true)
  })

  it('with always, other prompts that the rule covers are answered too, and only those', async () => {
    const { prompts, answers, ask, notes } = openPrompts()
    await ask('a', 'Bash', { command: 'touch a' })
    await ask('b', 'Bash', { command: 'touch a' })
    await ask('c', 'Bash', { command: 'touch a && rm -rf b' })
    prompts.lines(canvas)
    prompts.press(key('a'))
    for (let turns = 0; turns < 20; turns++) await flush()
    expect([...answers]).toEqual([
      ['a', { behavior: 'allow', addRules: { allow: ['Bash(touch a)'] } }],
      ['b', { behavior: 'allow' }],
    ])
    expect(notes).toEqual(['Allowed for the rest of this session: Bash(touch a).'])
    expect(prompts.lines(canvas).join('\n')).toContain('rm -rf b')
  })

  it('always does nothing if it is not offered', async () => {
    const { prompts, answers, ask } = openPrompts()
    await ask('a', 'Bash', { command: 'echo $(id)' })
    prompts.press(key('a'))
    await flush()
    expect(answers.size).toBe(0)
    expect(prompts.lines(canvas).join('\n')).toContain('not always: no rule can match this command')
  })

  it('a no may have a reason or none, and can be cancelled', async () => {
    const { prompts, answers, ask } = openPrompts()
    await ask('a', 'Bash', { command: 'touch a' })
    for (const each of [
      key('n'),
      key('y'),
      named('escape'),
      key('n'),
      key('ß'),
      key('!'),
      named('backspace'),
      named('return'),
    ])
      prompts.press(each)
    await flush()
    expect(answers.get('a')).toEqual({ behavior: 'deny', message: 'The user denied this call: ß' })
    await ask('b', 'Bash', { command: 'touch b' })
    for (const each of [key('n'), named('return')]) prompts.press(each)
    await flush()
    expect(answers.get('b')).toEqual({ behavior: 'deny', message: 'The user denied this call.' })
  })

  it('a question that was aborted or answered elsewhere is removed', async () => {
    const { prompts, ask } = openPrompts()
    const { abortController } = await ask('a', 'Bash', { command: 'touch a' })
    await ask('b', 'Bash', { command: 'touch b' })
    abortController.abort('interrupt')
    expect(prompts.lines(canvas).join('\n')).toContain('touch b')
    prompts.heed(new Set())
    expect(prompts.isAsking).toBe(false)
    expect(prompts.press(key('y'))).toBe(false)
  })

  it('an unfinished reason belongs to its question, not to the next one', async () => {
    const { prompts, answers, ask } = openPrompts()
    const { abortController } = await ask('a', 'Bash', { command: 'touch a' })
    await ask('b', 'Bash', { command: 'touch b' })
    for (const each of ['n', 'n', 'o']) prompts.press(key(each))
    abortController.abort('interrupt')
    prompts.press(named('return'))
    await flush()
    expect(prompts.lines(canvas).join('\n')).toContain('May Bash run?')
    expect([...answers.keys()]).toEqual(['a'])
  })

  it('a question of an agent stays open although the frames do not contain it, and always applies to all agents', async () => {
    const { prompts, answers, ask } = openPrompts()
    const askFor = (id: string, command: string) =>
      prompts.askFor('agent')(toolOf('Bash'), { command }, contextOf(id), createAssistantMessage([]), id, byMode)
    // it may have the same id as a call of the conversation
    await ask('a', 'Bash', { command: 'touch a' })
    const inner = askFor('a', 'touch b')
    for (let turns = 0; turns < 20; turns++) await flush()
    prompts.heed(new Set())
    await flush()
    expect(answers.get('a')).toMatchObject({ behavior: 'deny' })
    expect(prompts.lines(canvas).join('\n')).toContain('touch b')
    prompts.press(key('a'))
    expect(await inner).toMatchObject({ behavior: 'allow', addRules: { allow: ['Bash(touch b)'] } })
    expect(await askFor('c', 'touch b')).toEqual({ behavior: 'allow' })
    const context = contextOf('d')
    expect(
      await prompts.ask(toolOf('Bash'), { command: 'touch b' }, context, createAssistantMessage([]), 'd', byMode),
    ).toEqual({ behavior: 'allow' })
    expect(prompts.isAsking).toBe(false)
  })

  it('shows what an edit would change, or several', async () => {
    const { prompts, ask } = openPrompts()
    await ask('a', 'Edit', { file_path: 'a.txt', old_string: 'one\ntwo', new_string: 'one\nTWO' })
    expect(prompts.lines(canvas).join('\n')).toContain('      one\n    - two\n    + TWO\n')
    prompts.press(key('y'))
    const edits = [
      { old_string: 'a', new_string: 'b' },
      { old_string: 'c', new_string: 'd' },
    ]
    await ask('b', 'Edit', { file_path: 'a.txt', edits })
    expect(prompts.lines({ ...canvas, rows: 40 }).join('\n')).toMatch(/- a\n *\+ b\n.*\n.*\n *- c\n *\+ d\n/)
  })

  it('a hostile command cannot imitate a question', async () => {
    const { prompts, ask } = openPrompts()
    await ask('a', 'Bash', { command: 'touch PWNED #\rls -la\u001b[2J\u202e' })
    const picture = prompts.lines(canvas).join('\n')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that must not be there
    expect(picture.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u202e]/)
    expect(picture).toContain('│ touch PWNED #⟨CR⟩ls -la⟨ESC⟩[2J⟨U+202E⟩')
  })

  it.each([8, 12, 24])('yes counts only after all of a long command was shown, on %i rows', async (rows) => {
    const { prompts, answers, ask } = openPrompts()
    const command = Array.from({ length: 60 }, (_, index) => `echo line ${index}`).join('\n')
    await ask('a', 'Bash', { command: `${command}\n` })
    const seen = new Set<string>()
    const look = (): string[] => {
      const lines = prompts.lines({ ...canvas, rows })
      for (const line of lines) seen.add(line.trim())
      return lines
    }
    for (let page = 0; page < 200; page++) {
      const lines = look()
      expect(lines.length).toBeLessThanOrEqual(rows - 2)
      if (lines.join().includes('yes, once')) break
      for (const early of ['y', 'a']) prompts.press(key(early))
      await flush()
      expect(answers.size).toBe(0)
      prompts.press(key(' '))
    }
    for (let index = 0; index < 60; index++) expect(seen).toContain(`│ echo line ${index}`)
    prompts.press(key('y'))
    await flush()
    expect(answers.get('a')).toEqual({ behavior: 'allow' })
  })

  it('a key pressed before the question was drawn has no effect', async () => {
    const { prompts, answers, ask } = openPrompts()
    await ask('a', 'Bash', { command: 'touch a' })
    prompts.press(key('y'))
    await flush()
    expect(answers.size).toBe(0)
  })

  it('the rule that always adds is shown completely', async () => {
    const { prompts, ask } = openPrompts()
    const command = `npm run build -- ${'--flag '.repeat(40)}--last`
    await ask('a', 'Bash', { command })
    const picture = prompts.lines({ ...canvas, columns: 79, rows: 40 })
    const from = picture.findIndex((line) => line.includes('always adds the rule'))
    const rule = picture
      .slice(from + 1, -3)
      .map((line) => line.replace(/^ *[│┆] /, ''))
      .join('')
    expect(rule).toBe(`Bash(${command})`)
  })
})

it('always can be saved for the project, and applies to the session if saving fails', async () => {
  const kept: string[] = []
  const keeping = openPrompts((rules) => void kept.push(...rules))
  await keeping.ask('a', 'Bash', { command: 'npm test' })
  expect(keeping.prompts.lines(canvas).join('\n')).toContain('p  always, and save the rule for this project')
  keeping.prompts.press(key('p'))
  await flush()
  expect(kept).toEqual(['Bash(npm test)'])
  expect(keeping.answers.get('a')).toMatchObject({ behavior: 'allow', addRules: { allow: ['Bash(npm test)'] } })
  expect(keeping.notes[0]).toBe('Saved for this project: Bash(npm test).')
  const failing = openPrompts(() => 'the disk is full')
  await failing.ask('b', 'Bash', { command: 'npm test' })
  failing.prompts.lines(canvas)
  failing.prompts.press(key('p'))
  await flush()
  expect([failing.notes[0], failing.answers.get('b')?.behavior]).toEqual(['Not saved: the disk is full', 'allow'])
  const without = openPrompts()
  await without.ask('c', 'Bash', { command: 'npm test' })
  expect(without.prompts.lines(canvas).join('\n')).not.toContain('save the rule')
  without.prompts.press(key('p'))
  expect(without.prompts.isAsking).toBe(true)
})
