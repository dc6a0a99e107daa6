import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toJavaScript } from '../src/search/dialect/to-javascript.ts'
import type { FoundLine, Search } from '../src/search/match.ts'
import { maxFileBytes } from '../src/search/match.ts'
import { scanFiles } from '../src/search/scan-files.ts'
import { textScanner } from '../src/search/scan-text.ts'
import { nodeFileSystem } from '../src/workspace/node-file-system.ts'
import { createWorkspace } from '../src/workspace/workspace.ts'
import { put, scratch } from './bench.ts'
import { watchedFileSystem } from './workspace/watched-file-system.ts'

const search: Search = { pattern: 'x', ignoreCase: false, multiline: false, mode: 'files', before: 0, after: 0 }
const never = new AbortController().signal

describe.each([
  ['this machine', nodeFileSystem],
  ['a file system of its own', { ...nodeFileSystem }],
])('scanning files of %s', (_, fileSystem) => {
  const scan = async (root: string, names: string[], more: Partial<Search> = {}, signal = never) => {
    const paths = names.map((name) => join(root, name))
    const { matches } = await scanFiles(
      createWorkspace({ root, fileSystem }),
      paths,
      { ...search, ...more },
      10,
      signal,
    )
    return matches.map(({ path }) => path.slice(root.length + 1))
  }

  it('a file that became a link after it was found is not scanned', async () => {
    const outside = scratch({ 'secret.txt': 'x', 'deep/secret.txt': 'x' })
    const root = scratch({ 'a/f.txt': 'x', 'b/deep/secret.txt': 'x', 'c.txt': 'x' })
    const names = ['a/f.txt', 'b/deep/secret.txt', 'c.txt']
    expect(await scan(root, names)).toEqual(names)
    renameSync(join(root, 'b'), join(root, 'gone'))
    symlinkSync(outside, join(root, 'b'))
    renameSync(join(root, 'c.txt'), join(root, 'd.txt'))
    symlinkSync(join(outside, 'secret.txt'), join(root, 'c.txt'))
    expect(await scan(root, names)).toEqual(['a/f.txt'])
  })

  it('skips binary, large, blocking and missing files', async () => {
    const root = scratch({
      'binary.txt': 'x\0',
      'large.txt': 'x'.repeat(maxFileBytes + 1),
      'z.txt': 'x',
      'empty.txt': '',
    })
    execFileSync('mkfifo', [join(root, 'pipe.txt')])
    mkdirSync(join(root, 'folder.txt'))
    const names = ['binary.txt', 'empty.txt', 'folder.txt', 'gone.txt', 'large.txt', 'pipe.txt', 'z.txt']
    expect(await scan(root, names)).toEqual(['z.txt'])
  })

  it('reports an invalid pattern, and stops one that never ends', async () => {
    const root = scratch({ 'a.txt': `${'a'.repeat(40)}b\n` })
    await expect(scan(root, ['a.txt'], { pattern: '(' })).rejects.toThrow('Invalid pattern')
    const stop = new AbortController()
    const running = scan(root, ['a.txt'], { pattern: '^(a+)+$' }, stop.signal)
    setImmediate(() => stop.abort(new Error('enough')))
    expect(await running).toEqual([])
  })

  it('keeps no more lines than can be shown, however many there are', async () => {
    const root = scratch()
    put(join(root, 'a.txt'), '\n'.repeat(2_000_000))
    const paths = [join(root, 'a.txt')]
    const how: Search = { ...search, pattern: '^', mode: 'content' }
    const { matches } = await scanFiles(createWorkspace({ root, fileSystem }), paths, how, 10, never)
    expect(matches[0]).toMatchObject({ count: 2_000_000, linesLeftOut: 1_999_990 })
    expect(matches[0]?.lines).toHaveLength(10)
  })
})

it('only the given file system is used', async () => {
  const { fileSystem, touched } = watchedFileSystem()
  const root = scratch({ 'a.txt': 'x', 'b.txt': 'y' })
  const paths = [join(root, 'a.txt'), join(root, 'b.txt')]
  const shown = { ...fileSystem, openToRead: (path: string) => fileSystem.openToRead(path.replace('b.txt', 'a.txt')) }
  const { matches } = await scanFiles(createWorkspace({ root, fileSystem: shown }), paths, search, 10, never)
  expect(matches.map(({ path }) => path)).toEqual(paths)
  expect(touched).toEqual([
    { how: 'openToRead', where: paths[0] },
    { how: 'openToRead', where: paths[0] },
  ])
})

describe('the lines of a match', () => {
  /** The same in the simplest code. */
  const expected = (text: string, { before, after }: Search, isMatch: (line: string) => boolean): FoundLine[] => {
    const lines = text.endsWith('\n') ? text.slice(0, -1).split('\n') : text.split('\n')
    if (text === '') lines.pop()
    return lines.flatMap((line, index) => {
      const near = lines.slice(Math.max(0, index - after), index + before + 1)
      return near.some(isMatch) ? [{ number: index + 1, text: line, isMatch: isMatch(line) }] : []
    })
  }

  it('are those that match and those around them, each once', () => {
    const text = fc.array(fc.constantFrom('x', 'y', '', 'xy'), { maxLength: 14 }).map((lines) => lines.join('\n'))
    fc.assert(
      fc.property(text, fc.nat(3), fc.nat(3), fc.nat(8), fc.boolean(), (given, before, after, maxLines, multiline) => {
        const how: Search = { ...search, mode: 'content', before, after, multiline }
        const wanted = expected(given, how, (line) => line.includes('x'))
        const found = textScanner(how, toJavaScript(how.pattern, false, multiline), 100)(given, maxLines)
        expect(found?.lines ?? []).toEqual(wanted.slice(0, maxLines))
        expect(found?.linesLeftOut ?? 0).toBe(Math.max(0, wanted.length - maxLines))
        expect(found?.count ?? 0).toBe(wanted.filter(({ isMatch }) => isMatch).length)
      }),
    )
  })

  it('of a multiline pattern are all lines that it covers, and none after the last', () => {
    const lines = (pattern: string, text: string): number[] => {
      const how: Search = { ...search, mode: 'content', multiline: true, pattern }
      const found = textScanner(how, toJavaScript(pattern, false, true), 100)(text, 10)
      const numbers = found?.lines.map(({ number }) => number) ?? []
      expect(found?.count).toBe(numbers.length)
      return numbers
    }
    expect(lines('b\\nc', 'a\nb\nc\nd\n')).toEqual([2, 3])
    expect(lines('a.*c', 'a\nb\nc\nd\n')).toEqual([1, 2, 3])
    expect(lines('$', 'a\nb\n')).toEqual([1, 2])
    expect(lines('z*', 'a\n')).toEqual([1])
  })
})
