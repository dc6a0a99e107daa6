import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { defaultTools } from '../../src/tools/index.ts'
import { put, runTool, scratch } from '../tools/bench.ts'

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
  ])('deny: %s is caught by %s', async (path, spec) => {
    const { read } = setting()
    expect(await read(path, [`Read(${spec})`])).toContain('was denied by the rule')
  })

  it('deny: an absolute rule, another Unicode form', async () => {
    const { root, read } = setting()
    put(join(root, 'caf\u00e9/a.txt'), 'x')
    expect(await read('secret/key.txt', [`Read(${root}/secret/**)`])).toContain('denied by the rule')
    expect(await read('caf\u00e9/a.txt', ['Read(cafe\u0301/**)'])).toContain('denied by the rule')
  })

  it('deny: what it does not speak of is read', async () => {
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
    expect(await write(path, [`Write(${spec})`])).toContain(isAllowed ? 'Made' : 'asked')
  })

  it('a root with wildcards in its name means itself', async () => {
    const root = join(scratch({ 'a[b]*/x.txt': '1', 'ab/x.txt': '2' }), 'a[b]*')
    const tools = defaultTools({ root })
    const context = { permissions: { deny: ['Read(x.txt)'] } }
    expect((await runTool(tools, 'Read', { file_path: 'x.txt' }, { context })).text).toContain('denied by the rule')
  })

  it('mode acceptEdits lets edits in the workspace pass', async () => {
    const { root } = setting()
    const context = { permissions: { mode: 'acceptEdits' } } as const
    const run = (name: string, input: object) =>
      runTool(defaultTools({ root }), name, input, { canUseTool: denied, context })
    expect((await run('Write', { file_path: 'new.txt', content: '' })).isError).toBe(false)
    expect((await run('Bash', { command: 'echo hi' })).text).toContain('asked')
  })
})

describe('what git keeps for itself', () => {
  it.each([
    '.git/config',
    'sub/.git/hooks/pre-commit',
    '.GIT/config',
  ])('is asked for, whatever allows edits: %s', async (path) => {
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
