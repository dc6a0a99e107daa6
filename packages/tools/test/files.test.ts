import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { editTool } from '../src/edit.ts'
import { createTools } from '../src/index.ts'
import { readTool } from '../src/read.ts'
import type { FileSystem } from '../src/workspace/file-system.ts'
import { nodeFileSystem } from '../src/workspace/node-file-system.ts'
import { createReadMemory } from '../src/workspace/read-memory.ts'
import { createWorkspace } from '../src/workspace/workspace.ts'
import { writeTool } from '../src/write.ts'
import { put, type RunSettings, runTool, scratch } from './bench.ts'

function withFiles(files: Record<string, string> = {}, fileSystem: FileSystem = nodeFileSystem) {
  const root = scratch(files)
  const shared = { workspace: createWorkspace({ root, fileSystem }), memory: createReadMemory() }
  const tools = [
    readTool(shared, { maxLines: 5, maxLineChars: 20, maxBytes: 1_000 }),
    writeTool(shared),
    editTool(shared),
  ]
  return {
    root,
    read: (file_path: string, more: object = {}, settings?: RunSettings) =>
      runTool(tools, 'Read', { file_path, ...more }, settings),
    write: (file_path: string, content: string, settings?: RunSettings) =>
      runTool(tools, 'Write', { file_path, content }, settings),
    edit: (file_path: string, more: object, settings?: RunSettings) =>
      runTool(tools, 'Edit', { file_path, ...more }, settings),
    text: (name: string) => readFileSync(join(root, name), 'utf8'),
    names: () => readdirSync(root).sort(),
  }
}

const failing = (part: Partial<FileSystem>): FileSystem => ({ ...nodeFileSystem, ...part })
const fail = (code: string) => async (): Promise<never> => {
  throw Object.assign(new Error(code), { code })
}

describe('Read', () => {
  it('shows numbered lines, by offset and limit, and says if there are more', async () => {
    const { read } = withFiles({ 'a.txt': 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n' })
    expect((await read('a.txt', { offset: 2, limit: 2 })).text).toBe(
      '     2\ttwo\n     3\tthree\n(Lines 2 to 3; the file has 7. Continue with offset 4.)',
    )
    expect((await read('a.txt')).text).toContain('Continue with offset 6')
    expect((await read('a.txt', { offset: 6 })).text).toBe('     6\tsix\n     7\tseven')
    expect((await read('a.txt', { offset: 99 })).text).toContain('line 99 does not exist')
  })

  it('truncates long lines and removes carriage returns', async () => {
    const { read } = withFiles({ 'a.txt': `${'x'.repeat(50)}\r\nshort\r\n${'y'.repeat(20)}` })
    expect((await read('a.txt')).text).toBe(
      `     1\t${'x'.repeat(20)}… (31 more characters)\n     2\tshort\n     3\t${'y'.repeat(20)}`,
    )
  })

  it('reads a line far into a large file', async () => {
    const lines = Array.from({ length: 3_000 }, (_, index) => `line ${index + 1}`)
    const { read } = withFiles({ 'a.txt': lines.join('\n') })
    expect((await read('a.txt', { offset: 900, limit: 1 })).text).toContain('   900\tline 900\n')
  })

  it('shows an image as an image, whatever its name', async () => {
    const { root, read } = withFiles()
    const png = Buffer.from('89504e470d0a1a0a0000000d', 'hex')
    put(join(root, 'picture.txt'), png)
    expect((await read('picture.txt')).content).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') } },
    ])
  })

  it('rejects binary files, folders and missing files with a helpful message', async () => {
    const { root, read } = withFiles({ 'empty.txt': '' })
    put(join(root, 'data.bin'), Buffer.from([1, 2, 0, 3]))
    put(join(root, 'wide.txt'), Buffer.from('\ufeffhi', 'utf16le'))
    expect((await read('data.bin')).text).toContain('data.bin is binary data (4 bytes)')
    expect((await read('wide.txt')).text).toContain('UTF-16 text')
    expect((await read('.')).text).toContain('Use Glob')
    expect((await read('none.txt')).text).toContain('no such file')
    expect((await read('empty.txt')).text).toBe('(The file is empty.)')
  })

  it('reads no pipe, no device and no system pseudo-file, and does not wait for one', async () => {
    const { root, read } = withFiles()
    execFileSync('mkfifo', [join(root, 'pipe')])
    expect((await read('pipe')).text).toContain('not a regular file')
    const whole = [readTool({ workspace: createWorkspace({ root: '/' }), memory: createReadMemory() })]
    for (const path of ['/proc/self/environ', '/dev/zero', '/sys/kernel/uevent_seqnum']) {
      const { text, isError } = await runTool(whole, 'Read', { file_path: path })
      expect([isError, text]).toEqual([true, expect.stringMatching(/system pseudo-file|not a regular file/)])
    }
  })

  it('records in the context when each file was read', async () => {
    const { root, read } = withFiles({ 'a.txt': 'x' })
    const readFileTimestamps = new Map<string, number>()
    await read('a.txt', {}, { context: { readFileTimestamps } })
    expect([...readFileTimestamps.keys()]).toEqual([join(root, 'a.txt')])
  })

  it('reports errors of the file system', async () => {
    const { read } = withFiles({ 'a.txt': 'x' }, failing({ openToRead: fail('EMFILE') }))
    expect((await read('a.txt')).text).toContain('too many files are open')
  })
})

describe('Write', () => {
  it('creates a file with its folders', async () => {
    const { root, write, text } = withFiles()
    expect((await write('deep/er/a.txt', 'hello')).text).toBe('Created deep/er/a.txt (5 bytes).')
    expect(text('deep/er/a.txt')).toBe('hello')
    expect(readdirSync(join(root, 'deep/er'))).toEqual(['a.txt'])
  })

  it('replaces only files that were read and are unchanged', async () => {
    const { read, write, text, root } = withFiles({ 'a.txt': 'old' })
    expect((await write('a.txt', 'new')).text).toContain('has not been read yet')
    await read('a.txt')
    writeFileSync(join(root, 'a.txt'), 'OLD')
    expect((await write('a.txt', 'new')).text).toContain('has changed since it was read')
    expect(text('a.txt')).toBe('OLD')
    await read('a.txt')
    expect((await write('a.txt', 'new')).text).toBe('Replaced a.txt (3 bytes).')
    expect((await write('a.txt', 'newer')).isError).toBe(false)
  })

  it('keeps the old file and leaves nothing else when the disk is full, read-only, or the rename fails', async () => {
    for (const code of ['ENOSPC', 'EROFS', 'EMFILE']) {
      const broken = failing({
        openNew: async (path, mode) => {
          const file = await nodeFileSystem.openNew(path, mode)
          return { ...file, write: fail(code) }
        },
      })
      const { read, write, text, names } = withFiles({ 'a.txt': 'old' }, broken)
      await read('a.txt')
      expect((await write('a.txt', 'new')).text).toMatch(/disk is full|read-only|too many files/)
      expect([text('a.txt'), names()]).toEqual(['old', ['a.txt']])
    }
    const { read, write, names } = withFiles({ 'a.txt': 'old' }, failing({ rename: fail('EIO') }))
    await read('a.txt')
    expect((await write('a.txt', 'new')).isError).toBe(true)
    expect(names()).toEqual(['a.txt'])
  })

  it('does not replace a file that was created at the last moment', async () => {
    const { root, write, text } = withFiles(
      {},
      failing({
        link: async (from, to) => {
          writeFileSync(to, 'theirs')
          await nodeFileSystem.link(from, to)
        },
      }),
    )
    expect((await write('a.txt', 'ours')).text).toContain('was created by another process meanwhile')
    expect([text('a.txt'), readdirSync(root)]).toEqual(['theirs', ['a.txt']])
  })

  it('writes through a link inside the workspace and keeps the link', async () => {
    const { root, read, write, text } = withFiles({ 'real.txt': 'old' })
    symlinkSync('real.txt', join(root, 'link.txt'))
    await read('link.txt')
    await write('link.txt', 'new')
    expect(text('real.txt')).toBe('new')
    expect(readdirSync(root).sort()).toEqual(['link.txt', 'real.txt'])
  })

  it('creates no file through a broken link', async () => {
    const { root, write } = withFiles()
    const outside = scratch()
    symlinkSync(join(outside, 'made.txt'), join(root, 'link.txt'))
    expect((await write('link.txt', 'x')).text).toContain('broken symbolic link')
    expect(existsSync(join(outside, 'made.txt'))).toBe(false)
  })
})

describe('Edit', () => {
  it('replaces text that occurs exactly once, and shows the diff', async () => {
    const { read, edit, text } = withFiles({ 'a.txt': 'one\ntwo\nthree\nfour\nfive\n' })
    await read('a.txt')
    expect((await edit('a.txt', { old_string: 'three', new_string: 'THREE\n3' })).text).toBe(
      'Changed a.txt:\n--- a.txt\n+++ a.txt\n@@ -1,5 +1,6 @@\n one\n two\n-three\n+THREE\n+3\n four\n five',
    )
    expect(text('a.txt')).toBe('one\ntwo\nTHREE\n3\nfour\nfive\n')
  })

  it('applies several edits in order, all or none', async () => {
    const { read, edit, text } = withFiles({ 'a.txt': 'a b c' })
    await read('a.txt')
    const edits = [
      { old_string: 'a', new_string: 'b' },
      { old_string: 'b', new_string: 'x', replace_all: true },
    ]
    const broken = await edit('a.txt', { edits: [...edits, { old_string: 'nowhere', new_string: '' }] })
    expect([broken.isError, text('a.txt')]).toEqual([true, 'a b c'])
    expect(broken.text).toContain('Edit 3: old_string was not found in the file')
    await edit('a.txt', { edits })
    expect(text('a.txt')).toBe('x x c')
  })

  it('shows similar text, and how it differs', async () => {
    const { read, edit } = withFiles({ 'a.ts': 'function a() {\n    return total + 1\n}\n' })
    await read('a.ts')
    expect((await edit('a.ts', { old_string: '  return total + 1\n}', new_string: '' })).isError).toBe(false)
    const { edit: again, read: look } = withFiles({ 'a.ts': 'function a() {\n\treturn total + 1\n}\n' })
    await look('a.ts')
    const missed = await again('a.ts', { old_string: '  return total + 1', new_string: 'x' })
    expect(missed.text).toContain('line 2 (only white space differs): "\\treturn total + 1"')
    const other = await again('a.ts', { old_string: 'return totals + 1', new_string: 'x' })
    expect(other.text).toContain('line 2: "\\treturn total + 1"')
  })

  it('rejects text that occurs several times, with the lines', async () => {
    const { read, edit } = withFiles({ 'a.txt': 'x\ny\nx\n' })
    await read('a.txt')
    expect((await edit('a.txt', { old_string: 'x', new_string: 'z' })).text).toContain('2 times (lines 1, 3)')
    expect((await edit('a.txt', { old_string: 'x', new_string: 'z', replace_all: true })).isError).toBe(false)
  })

  it.each([
    ['a\r\nb\r\nc\r\n', 'a\r\nX\r\nY\r\nc\r\n'],
    ['a\nb\nc\n', 'a\nX\nY\nc\n'],
    ['a\r\nb\r\nc', 'a\r\nX\r\nY\r\nc'],
    ['\ufeffa\r\nb\r\nc\r\n', '\ufeffa\r\nX\r\nY\r\nc\r\n'],
    ['z\na\r\nb\r\nc\n', 'z\na\r\nX\r\nY\r\nc\n'],
  ])('keeps line endings and marks: %j', async (before, after) => {
    const { read, edit, text } = withFiles({ 'a.txt': before })
    await read('a.txt')
    expect((await edit('a.txt', { old_string: 'a\nb', new_string: 'a\nX\nY' })).isError).toBe(false)
    expect(text('a.txt')).toBe(after)
  })

  it('keeps the mode, and does not affect other hard links of the file', async () => {
    const { root, read, edit } = withFiles({ 'run.sh': 'echo a\n' })
    chmodSync(join(root, 'run.sh'), 0o751)
    linkSync(join(root, 'run.sh'), join(root, 'other.sh'))
    await read('run.sh')
    await edit('run.sh', { old_string: 'a', new_string: 'b' })
    expect(statSync(join(root, 'run.sh')).mode & 0o777).toBe(0o751)
    expect(readFileSync(join(root, 'other.sh'), 'utf8')).toBe('echo a\n')
  })

  it('rejects a file that changed, even within one tick of the clock and to the same length', async () => {
    const { root, read, edit } = withFiles({ 'a.txt': 'aaaa' })
    const path = join(root, 'a.txt')
    const { atime, mtime } = statSync(path)
    await read('a.txt')
    writeFileSync(path, 'aaab')
    utimesSync(path, atime, mtime)
    expect((await edit('a.txt', { old_string: 'aaab', new_string: 'x' })).text).toContain(
      'has changed since it was read',
    )
  })

  it('accepts a file that was touched but is unchanged', async () => {
    const { root, read, edit } = withFiles({ 'a.txt': 'aaaa' })
    await read('a.txt')
    writeFileSync(join(root, 'a.txt'), 'aaaa')
    expect((await edit('a.txt', { old_string: 'aaaa', new_string: 'x' })).isError).toBe(false)
  })

  it('rejects a file that changed at the last moment', async () => {
    let root = ''
    const { read, edit, text, ...rest } = withFiles(
      { 'a.txt': 'old' },
      failing({
        openNew: async (path, mode) => {
          writeFileSync(join(root, 'a.txt'), 'theirs, meanwhile')
          return nodeFileSystem.openNew(path, mode)
        },
      }),
    )
    root = rest.root
    await read('a.txt')
    expect((await edit('a.txt', { old_string: 'old', new_string: 'new' })).text).toContain('changed by another process')
    expect(text('a.txt')).toBe('theirs, meanwhile')
  })

  it('rejects invalid and harmful edits', async () => {
    const { root, read, edit } = withFiles({ 'a.txt': 'x' })
    put(join(root, 'latin.txt'), Buffer.from([0x61, 0xe9, 0x62]))
    expect((await edit('a.txt', { old_string: 'x', new_string: 'y' })).text).toContain('has not been read yet')
    expect((await edit('none.txt', { old_string: 'x', new_string: 'y' })).text).toContain('Use Write')
    await read('a.txt')
    expect((await edit('a.txt', {})).text).toContain('Pass old_string and new_string')
    expect((await edit('a.txt', { old_string: 'x', new_string: 'x' })).text).toContain(
      'equal old_string and new_string',
    )
    expect((await edit('a.txt', { old_string: '', new_string: 'x' })).isError).toBe(true)
    await read('latin.txt')
    expect((await edit('latin.txt', { old_string: 'a', new_string: 'b' })).text).toContain('not valid UTF-8')
  })
})

it('Edit counts overlapping occurrences, and replaces all that do not overlap', async () => {
  const root = scratch({ 'a.txt': 'aaa', 'b.txt': 'aaaa' })
  const { tools, close } = createTools({ root, shell: false })
  onTestFinished(close)
  const edit = async (file_path: string, more = {}) => {
    await runTool(tools, 'Read', { file_path })
    return (await runTool(tools, 'Edit', { file_path, old_string: 'aa', new_string: 'b', ...more })).text
  }
  expect(await edit('a.txt')).toContain('old_string occurs 2 times')
  await edit('b.txt', { replace_all: true })
  expect(readFileSync(join(root, 'b.txt'), 'utf8')).toBe('bb')
})

it('a deny rule is checked again when the call runs', async () => {
  const root = scratch({ 'secret/key.txt': 'SECRET', 'plain.txt': 'plain' })
  const { tools, close } = createTools({ root, shell: false })
  onTestFinished(close)
  const permissions = { mode: 'default' as const, allow: [], ask: ['Read(plain.txt)'], deny: ['Read(secret/**)'] }
  // while the question is open, the file is replaced by a link
  const canUseTool = async () => {
    rmSync(join(root, 'plain.txt'))
    symlinkSync('secret/key.txt', join(root, 'plain.txt'))
    return { behavior: 'allow' as const }
  }
  const { text } = await runTool(tools, 'Read', { file_path: 'plain.txt' }, { canUseTool, context: { permissions } })
  expect(text).toContain('A permission rule denies Read for secret/key.txt')
})
