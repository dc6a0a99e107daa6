import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkRules } from '../../../../src/index.ts'
import { defaultTools } from '../../src/index.ts'
import { literalPath } from '../../src/workspace/path-rule.ts'
import { put, runTool, scratch } from '../bench.ts'

const denied = async () => ({ behavior: 'deny', message: 'asked' }) as const

describe('rules for paths', () => {
  const setting = () => {
    const root = scratch({ 'src/a.ts': 'a', 'src-evil/a.ts': 'b', 'secret/key.txt': 'k', 'docs/deep/b.md': 'd' })
    symlinkSync('../secret/key.txt', join(root, 'src/link.txt'))
    const tools = defaultTools({ root })
    const read = async (file_path: string, deny: string[]) =>
      (await runTool(tools, 'Read', { file_path }, { canUseTool: denied, context: { permissions: { deny } } })).text
    const write = async (file_path: string, allow: string[]) =>
      (
        await runTool(
          tools,
          'Write',
          { file_path, content: 'x' },
          { canUseTool: denied, context: { permissions: { allow } } },
        )
      ).text
    return { root, read, write }
  }

  it.each([
    ['secret/key.txt', 'secret/**'],
    ['secret/key.txt', 'secret'],
    ['./secret/../secret/key.txt', 'secret/**'],
    ['src/link.txt', 'secret/**'],
    ['secret/key.txt', 'SECRET/KEY.txt'],
    ['secret/key.txt', '**/*.txt'],
  ])('deny: %s is matched by %s', async (path, spec) => {
    const { read } = setting()
    expect(await read(path, [`Read(${spec})`])).toContain('was denied by the rule')
  })

  it('deny: an absolute rule, another Unicode form', async () => {
    const { root, read } = setting()
    put(join(root, 'caf\u00e9/a.txt'), 'x')
    expect(await read('secret/key.txt', [`Read(${root}/secret/**)`])).toContain('denied by the rule')
    expect(await read('caf\u00e9/a.txt', ['Read(cafe\u0301/**)'])).toContain('denied by the rule')
  })

  it.each([
    ['src/link.txt', 'src/link.txt'],
    ['secret/key.txt', 'src/link.txt'],
    ['src/link.txt', 'src/*.txt'],
    ['linked/key.txt', 'linked'],
    ['secret/key.txt', 'linked/**'],
    ['linked/key.txt', '*/key.txt'],
  ])('deny: %s is matched by %s, although one of them is a link', async (path, spec) => {
    const { root, read } = setting()
    symlinkSync('secret', join(root, 'linked'))
    expect(await read(path, [`Read(${spec})`])).toContain('was denied by the rule')
  })

  it('deny: a link does not hide its target from a rule', async () => {
    const { root } = setting()
    symlinkSync('secret', join(root, 'linked'))
    const run = async (name: string, input: object, deny: string) =>
      (await runTool(defaultTools({ root }), name, input, { context: { permissions: { deny: [deny] } } })).text
    expect(await run('Glob', { pattern: '**/*.txt' }, 'Read(linked/**)')).toBe('No files match.')
    expect(await run('Grep', { pattern: 'k', path: 'secret' }, 'Grep(linked)')).toContain('denied by the rule')
    expect(await run('Grep', { pattern: 'k', path: 'linked' }, 'Grep(lin*)')).toContain('denied by the rule')
  })

  it('deny: a root that is a link can be named either way', async () => {
    const { root } = setting()
    const name = join(scratch(), 'root')
    symlinkSync(root, name)
    const tools = defaultTools({ root: name })
    const run = async (tool: string, input: object, deny: string) =>
      (await runTool(tools, tool, input, { context: { permissions: { deny: [deny] } } })).text
    for (const at of [root, name]) {
      expect(await run('Read', { file_path: 'secret/key.txt' }, `Read(${at}/secret/**)`)).toContain(
        'denied by the rule',
      )
      const write = { file_path: 'new/deep/a.txt', content: '' }
      expect(await run('Write', write, `Write(${at}/new/**)`)).toContain('denied by the rule')
    }
  })

  it('allow: a rule for a link does not allow its target', async () => {
    const { root, write } = setting()
    symlinkSync('secret', join(root, 'linked'))
    expect(await write('linked/new.txt', ['Write(linked/**)'])).toContain('asked')
    expect(await write('secret/new.txt', ['Write(linked/**)'])).toContain('asked')
  })

  it('deny: other files can be read', async () => {
    const { read } = setting()
    expect(await read('src/a.ts', ['Read(src-evil/**)', 'Read(sr)', 'Read(secret/**)'])).toBe('     1\ta')
  })

  it.each([
    ['src/new.ts', 'src/**', true],
    ['src/new.ts', 'src', true],
    ['src-evil/new.ts', 'src/**', false],
    ['src-evil/new.ts', 'src', false],
    ['src/../docs/new.ts', 'src/**', false],
    ['docs/deep/new.md', 'docs/**/*.md', true],
    ['docs/deep/new.md', 'docs/*.md', false],
    ['SRC/new.ts', 'src/**', false],
    ['.env', '*', true],
  ])('allow: %s by %s: %s', async (path, spec, isAllowed) => {
    const { write } = setting()
    expect(await write(path, [`Write(${spec})`])).toContain(isAllowed ? 'Created' : 'asked')
  })

  it('wildcards in the name of a root are literal', async () => {
    const root = join(scratch({ 'a[b]*/x.txt': '1', 'ab/x.txt': '2' }), 'a[b]*')
    const tools = defaultTools({ root })
    const context = { permissions: { deny: ['Read(x.txt)'] } }
    expect((await runTool(tools, 'Read', { file_path: 'x.txt' }, { context })).text).toContain('denied by the rule')
  })

  it('mode acceptEdits allows edits in the workspace', async () => {
    const { root } = setting()
    const context = { permissions: { mode: 'acceptEdits' } } as const
    const run = (name: string, input: object) =>
      runTool(defaultTools({ root }), name, input, { canUseTool: denied, context })
    expect((await run('Write', { file_path: 'new.txt', content: '' })).isError).toBe(false)
    expect((await run('Bash', { command: 'touch hi' })).text).toContain('asked')
  })
})

describe('git’s internal files', () => {
  it('need a prompt if .git is a link, and in a bare repository', async () => {
    const root = scratch()
    mkdirSync(join(root, 'kept/hooks'), { recursive: true })
    symlinkSync('kept', join(root, '.git'))
    mkdirSync(join(root, 'bare/objects'), { recursive: true })
    put(join(root, 'bare/HEAD'), 'ref: refs/heads/main')
    put(join(root, 'elsewhere/HEAD'), 'ref: refs/heads/main')
    put(join(root, 'elsewhere/commondir'), '../kept')
    const run = (file_path: string) =>
      runTool(
        defaultTools({ root }),
        'Write',
        { file_path, content: '' },
        { canUseTool: denied, context: { permissions: { mode: 'acceptEdits' } } },
      )
    for (const path of ['kept/config', 'kept/hooks/pre-commit', 'bare/config', 'bare/hooks/x', 'elsewhere/config']) {
      const { text } = await run(path)
      expect([path, text.includes('asked')]).toEqual([path, true])
    }
  })

  it.each([
    '.git/config',
    'sub/.git/hooks/pre-commit',
    '.GIT/config',
  ])('need a prompt, whatever allows edits: %s', async (path) => {
    const tools = defaultTools({ root: scratch() })
    for (const permissions of [{ mode: 'acceptEdits' as const }, { allow: ['Write'] }]) {
      const { text } = await runTool(
        tools,
        'Write',
        { file_path: path, content: '' },
        { canUseTool: denied, context: { permissions } },
      )
      expect(text).toContain('asked')
    }
  })
})

it('rules for Edit apply to Write too, and a path with wildcards in its name can be escaped', async () => {
  const root = scratch()
  const run = (permissions: object, file_path: string) =>
    runTool(
      defaultTools({ root }),
      'Write',
      { file_path, content: '' },
      { canUseTool: denied, context: { permissions } },
    )
  expect((await run({ mode: 'acceptEdits', deny: ['Edit(secret/**)'] }, 'secret/a')).text).toContain('denied')
  expect((await run({ allow: ['Edit(new/**)'] }, 'new/a')).isError).toBe(false)
  expect((await run({ allow: [`Write(${literalPath('a[1]*.txt')})`] }, 'a[1]*.txt')).isError).toBe(false)
  expect((await run({ allow: [`Write(${literalPath('a[1]*.txt')})`] }, 'a1x.txt')).text).toContain('asked')
})

it('a rule that can never match is reported', () => {
  const root = scratch()
  const tools = defaultTools({ root })
  const messages = checkRules({ deny: ['bash(ls:*)', 'Bsh(rm *)', 'Read(/etc/**)', 'Edit(src)', 'Bash(rm:*)'] }, tools)
  expect(messages.map(({ rule, severity }) => [rule, severity])).toEqual([
    ['bash(ls:*)', 'error'],
    ['Bsh(rm *)', 'warning'],
    ['Read(/etc/**)', 'warning'],
  ])
})
