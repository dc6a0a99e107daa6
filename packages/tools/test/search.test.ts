import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAssistantMessage, StreamingToolExecutor } from '../../../src/index.ts'
import { createTools, nodeFileSystem, type ToolSetOptions } from '../src/index.ts'
import { findRipgrep } from '../src/search/ripgrep.ts'
import { put, type RunSettings, runTool, scratch } from './bench.ts'

const tree = {
  'a.ts': 'const alpha = 1\nconst beta = 2\n',
  'src/b.ts': 'alpha\r\ngamma\r\nalpha beta\r\n',
  'src/deep/c.js': 'ALPHA\n',
  'src/deep/.hidden.ts': 'alpha\n',
  'src/deep/[x].ts': 'delta\n',
  'build/out.ts': 'alpha\n',
  'src/keep.log': 'alpha\n',
  'src/other.log': 'alpha\n',
  '.gitignore': 'build/\n*.log\n',
  'src/.gitignore': '!keep.log\n/deep/skip\n',
  'src/deep/skip/s.ts': 'alpha\n',
  'bin.dat': 'alpha\0beta\n',
  '.git/config': 'alpha\n',
}

const engines: [name: string, options: Pick<ToolSetOptions, 'ripgrep' | 'fileSystem'>][] = [
  ['without ripgrep', { ripgrep: false }],
  ['in a file system of its own', { ripgrep: false, fileSystem: { ...nodeFileSystem } }],
]
const hasRipgrep = findRipgrep() !== undefined
if (hasRipgrep) engines.push(['with ripgrep', {}])
else console.warn('No test of searches with ripgrep: it is not installed.')

describe.each(engines)('searching %s', (_, options) => {
  const setting = (files: Record<string, string> = tree) => {
    const root = scratch(files)
    const { tools } = createTools({ root, ...options })
    return {
      root,
      tools,
      glob: async (pattern: string, path?: string, settings?: RunSettings) =>
        (await runTool(tools, 'Glob', { pattern, ...(path !== undefined && { path }) }, settings)).text,
      grep: async (pattern: string, more: object = {}, settings?: RunSettings) =>
        (await runTool(tools, 'Grep', { pattern, ...more }, settings)).text,
    }
  }

  it('finds files by pattern, sorted, without ignored ones', async () => {
    const { glob, root } = setting()
    expect(await glob('**/*.ts')).toBe('a.ts\nsrc/b.ts\nsrc/deep/.hidden.ts\nsrc/deep/[x].ts')
    expect(await glob('*.ts')).toBe('a.ts')
    expect(await glob('src/**/*.{js,log}')).toBe('src/deep/c.js\nsrc/keep.log')
    expect(await glob('**/*.ts', 'src')).toBe('src/b.ts\nsrc/deep/.hidden.ts\nsrc/deep/[x].ts')
    expect(await glob(`${root}/src/*.ts`)).toBe('src/b.ts')
    expect(await glob('src/b.ts')).toBe('src/b.ts')
    expect(await glob('**/*.rs')).toBe('No files match.')
  })

  it('searches an ignored folder that is named explicitly', async () => {
    const { glob, grep } = setting()
    expect(await glob('*', 'build')).toBe('build/out.ts')
    expect(await grep('alpha', { path: 'build' })).toBe('build/out.ts')
    expect(await grep('alpha', { path: 'src/other.log' })).toBe('src/other.log')
  })

  it('applies the ignore files above the searched folder', async () => {
    const { glob } = setting()
    expect(await glob('**/*', 'src/deep')).toBe('src/deep/.hidden.ts\nsrc/deep/[x].ts\nsrc/deep/c.js')
  })

  it('finds text: files, counts, lines with numbers', async () => {
    const { grep } = setting()
    expect(await grep('alpha')).toBe('a.ts\nsrc/b.ts\nsrc/deep/.hidden.ts\nsrc/keep.log')
    expect(await grep('alpha', { output_mode: 'count', glob: '*.ts' })).toBe(
      'a.ts:1\nsrc/b.ts:2\nsrc/deep/.hidden.ts:1',
    )
    expect(await grep('^alpha', { output_mode: 'content', path: 'src', glob: 'b.*' })).toBe(
      'src/b.ts:1:alpha\nsrc/b.ts:3:alpha beta',
    )
    expect(await grep('gamma', { output_mode: 'content', before: 1, after: 1 })).toBe(
      'src/b.ts-1-alpha\nsrc/b.ts:2:gamma\nsrc/b.ts-3-alpha beta',
    )
    expect(await grep('alpha', { ignore_case: true, glob: 'src/**/*.js' })).toBe('src/deep/c.js')
    expect(await grep('1\\nconst', { multiline: true, output_mode: 'content' })).toBe(
      'a.ts:1:const alpha = 1\na.ts:2:const beta = 2',
    )
    expect(await grep('none of it')).toBe('No matches.')
    expect(await grep('alpha', { path: 'src/deep/.hidden.ts', output_mode: 'content' })).toBe(
      'src/deep/.hidden.ts:1:alpha',
    )
  })

  it('shows no more than asked for, and says so', async () => {
    const { grep } = setting({ 'a.txt': 'x\n'.repeat(1_000) })
    expect(await grep('x', { output_mode: 'content', head_limit: 2 })).toBe(
      'a.txt:1:x\na.txt:2:x\n(2 of 1000 lines shown. Narrow the search to see the others.)',
    )
    const many = setting({ 'b.txt': 'x\n'.repeat(400), 'a.txt': 'x\n'.repeat(300), 'c.txt': 'x\n' })
    const all = await many.grep('x', { output_mode: 'content' })
    expect(all.split('\n').slice(298, 302)).toEqual(['a.txt:299:x', 'a.txt:300:x', 'b.txt:1:x', 'b.txt:2:x'])
    expect(all.endsWith('\nb.txt:200:x\n(500 of 701 lines shown. Narrow the search to see the others.)')).toBe(true)
    expect(await many.grep('x', { output_mode: 'count' })).toBe('a.txt:300\nb.txt:400\nc.txt:1')
    const { glob } = setting(Object.fromEntries(Array.from({ length: 600 }, (_each, index) => [`f${index}.txt`, ''])))
    expect(await glob('*.txt')).toContain('(500 of 600 files shown.')
  })

  it('follows no links, and does not search outside', async () => {
    const { root, glob, grep } = setting()
    const outside = scratch({ 'secret.ts': 'alpha secret' })
    symlinkSync(outside, join(root, 'out'))
    symlinkSync(join(outside, 'secret.ts'), join(root, 'link.ts'))
    expect(await glob('**/*secret*')).toBe('No files match.')
    expect(await grep('secret')).toBe('No matches.')
    for (const text of [await glob('../**'), await glob('**', 'out'), await glob('out/*'), await glob('/etc/*')]) {
      expect(text).toContain('outside the workspace')
    }
    expect(await grep('x', { path: '../../../test' })).toContain('outside the workspace')
  })

  it('does not find files that rules forbid to read', async () => {
    const { glob, grep } = setting()
    const settings = { context: { permissions: { deny: ['Read(src/**)'] } } }
    expect(await glob('**/*.ts', undefined, settings)).toBe('a.ts')
    expect(await grep('alpha', {}, settings)).toBe('a.ts')
  })

  it('what Read asks about is not shown by Grep without a question', async () => {
    const root = scratch({ 'a.txt': 'alpha one\n', '.env': 'alpha SECRET\n', 'keys/b.txt': 'alpha SECRET\n' })
    const { tools, close } = createTools({ root, ...options })
    onTestFinished(close)
    const asked: unknown[] = []
    const grep = async (path: string | undefined, behavior: 'allow' | 'deny') => {
      const canUseTool = async (_: unknown, input: unknown) => {
        asked.push(input)
        return { behavior, message: 'no' } as const
      }
      const context = { permissions: { ask: ['Read(.env)', 'Read(keys/**)'] } }
      const input = { pattern: 'alpha', path, output_mode: 'content' }
      return (await runTool(tools, 'Grep', input, { canUseTool, context })).text
    }
    expect(await grep(undefined, 'deny')).toBe('a.txt:1:alpha one')
    expect(asked).toEqual([])
    expect(await grep('.env', 'deny')).not.toContain('SECRET')
    expect(await grep('keys/b.txt', 'deny')).not.toContain('SECRET')
    expect(asked).toHaveLength(2)
    expect(await grep('.env', 'allow')).toContain('SECRET')
  })

  it('deny rules apply to every search that includes their path', async () => {
    const { grep } = setting()
    const settings = { context: { permissions: { deny: ['Grep(src/deep/**)'] } } }
    expect(await grep('alpha', {}, settings)).toContain('denied by the rule')
    expect(await grep('alpha', { path: 'src/deep' }, settings)).toContain('denied by the rule')
    expect(await grep('alpha', { path: 'build' }, settings)).toBe('build/out.ts')
  })

  it('a line ends before its carriage return, which a pattern can still match', async () => {
    const { grep } = setting()
    const lines = (pattern: string) => grep(pattern, { output_mode: 'content', path: 'src', glob: 'b.ts' })
    expect(await lines('^alpha$')).toBe('src/b.ts:1:alpha')
    expect(await lines('beta\\r$')).toBe('src/b.ts:3:alpha beta')
  })

  it('reports an invalid pattern', async () => {
    const { glob, grep } = setting()
    for (const pattern of ['1\\nconst', '1\nconst']) expect(await grep(pattern)).toContain('multiline')
    expect(await grep('const[^\\n]*2')).toBe('a.ts')
    expect(await grep('\\\\n')).toBe('No matches.')
    expect(await grep('(')).toContain('Invalid pattern')
    expect(await glob('*a*a*a*a*a*b')).toContain('wildcard')
    expect(await glob('+(+(+(a)))b')).toBe('No files match.')
  })

  it('ends at once when it is aborted, even in a pattern that never ends', async () => {
    const { tools } = setting({ 'a.txt': `${'a'.repeat(40)}b\n` })
    const executor = new StreamingToolExecutor(tools, async () => ({ behavior: 'allow' }), {})
    const input = { pattern: '^(a+)+$', path: 'a.txt' }
    executor.addTool({ type: 'tool_use', id: 'a', name: 'Grep', input }, createAssistantMessage([]))
    await new Promise((resolve) => setTimeout(resolve, 50))
    executor.abort('escape')
    const messages = []
    for await (const { message } of executor.getRemainingResults()) messages.push(message.type)
    expect(messages).toEqual(['user'])
  })
})

describe.runIf(hasRipgrep)('both engines', () => {
  const name = fc.constantFrom('a', 'b', 'c.ts', 'd.log', '.e', 'f g', 'é')
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
  const pattern = fc.constantFrom(
    'a',
    '*.log',
    '/b',
    'c.ts',
    '!c.ts',
    'a/',
    '**/b',
    'a/**',
    '!a/b',
    '.e',
    '# x',
    '*/f g',
    'é',
  )
  const ignoreFile = fc.tuple(fc.constantFrom('', 'a/', 'b/', 'a/b/'), fc.array(pattern, { maxLength: 4 }))

  it('find the same files, whatever is ignored', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(path, { maxLength: 12 }),
        fc.array(ignoreFile, { maxLength: 3 }),
        async (paths, ignores) => {
          const root = scratch()
          const make = (file: string, text: string): void => {
            // a name cannot be both a file and a folder
            try {
              put(join(root, file), text)
            } catch {}
          }
          for (const each of paths) make(each, 'x\n')
          for (const [folder, lines] of ignores) {
            try {
              mkdirSync(join(root, folder), { recursive: true })
              make(`${folder}.gitignore`, lines.join('\n'))
            } catch {}
          }
          const find = async (ripgrep: false | undefined, at: string) =>
            (await runTool(createTools({ root, ripgrep }).tools, 'Glob', { pattern: '**', path: at })).text
          for (const at of ['.', 'a']) expect(await find(false, at)).toBe(await find(undefined, at))
        },
      ),
      { numRuns: process.env.SIGNALBOX_FULL ? 500 : 60 },
    )
  })
})

describe.each([['with ripgrep', undefined] as const, ['without', false as const] as const])('%s', (_, ripgrep) => {
  it.skipIf(ripgrep === undefined && findRipgrep() === undefined)(
    'finds files whose names have a line break in them',
    async () => {
      const root = scratch({ 'odd\nname.txt': 'needle\n', 'fol\nder/b.txt': 'needle\n' })
      const { tools, close } = createTools({ root, shell: false, ...(ripgrep === false && { ripgrep }) })
      onTestFinished(close)
      const names = ['"fol\\nder/b.txt"', '"odd\\nname.txt"']
      expect((await runTool(tools, 'Glob', { pattern: '**/*.txt' })).text.split('\n')).toEqual(names)
      for (const output_mode of ['files_with_matches', 'count', 'content']) {
        const { text } = await runTool(tools, 'Grep', { pattern: 'needle', output_mode })
        expect(text.split('\n').map((line) => line.replace(/(?<=").*$/, (rest) => rest.replace(/:.*/, '')))).toEqual(
          names,
        )
      }
      const denied = {
        context: { permissions: { mode: 'default' as const, allow: [], ask: [], deny: ['Read(fol*/**)'] } },
      }
      expect((await runTool(tools, 'Glob', { pattern: '**/*.txt' }, denied)).text).toBe(names[1])
    },
  )

  it.skipIf(ripgrep === undefined && findRipgrep() === undefined)(
    'heeds the case of what .gitignore names',
    async () => {
      const root = scratch({
        '.gitignore': 'Build\n*.LOG\n',
        'build/a.txt': 'x',
        'Build/b.txt': 'x',
        'c.log': 'x',
        'd.LOG': 'x',
      })
      const { tools, close } = createTools({ root, shell: false, ...(ripgrep === false && { ripgrep }) })
      onTestFinished(close)
      const { text } = await runTool(tools, 'Glob', { pattern: '**/*.{txt,log,LOG}' })
      expect(text.split('\n')).toEqual(['build/a.txt', 'c.log'])
    },
  )
})
