import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createTools } from '../../src/index.ts'
import { isInside } from '../../src/workspace/is-inside.ts'
import { runTool, scratch } from '../bench.ts'
import { watchedFileSystem } from './watched-file-system.ts'

const runs = process.env.SIGNALBOX_FULL ? 3_000 : 300

const part = fc.oneof(
  fc.constantFrom(
    '../../../../test',
    '.',
    '',
    'in',
    'sub',
    'out',
    'up',
    'loop',
    'dead',
    'file.txt',
    'hop',
    '...',
    '.. ',
    '~',
    '-',
    '*',
  ),
  fc.constantFrom(
    'caf\u00e9',
    'cafe\u0301',
    '\u2025',
    '\uff0e\uff0e',
    '..\u200b',
    '%2e%2e',
    '..\\..',
    'a\0b',
    '\ud800',
  ),
  fc.constant('x'.repeat(300)),
  fc.string({ maxLength: 8 }),
)

describe('paths of any kind', () => {
  it('never open, list, make, move or remove anything outside the root', async () => {
    const home = scratch({
      'secret.txt': 'secret',
      'rooted/sub/file.txt': 'in',
      'rooted/file.txt': 'in',
      'rooted-evil/file.txt': 'x',
    })
    const root = join(home, 'rooted')
    mkdirSync(join(root, 'caf\u00e9'))
    for (const [link, to] of [
      ['out', home],
      ['up', '../../../../test'],
      ['sub/up', '../../../..'],
      ['hop', 'sub/up/rooted-evil'],
      ['in', 'sub'],
      ['loop', 'loop'],
      ['dead', join(home, 'made-by-link')],
      ['back', join(home, 'rooted')],
    ] as const) {
      symlinkSync(to, join(root, link))
    }
    const { fileSystem, touched } = watchedFileSystem()
    const { tools, close } = createTools({ root, fileSystem, ripgrep: false })
    const anyPath = fc
      .tuple(
        fc.constantFrom('', '/', `${root}/`, `${home}/`, `${root}-evil/`, `${root}/out/`, `${root}/back/`),
        fc.array(part, { maxLength: 6 }),
      )
      .map(([start, parts]) => start + parts.join('/'))
    const call = fc.constantFrom('Read', 'Write', 'Edit', 'Glob', 'Grep')
    let opened = 0
    await fc.assert(
      fc.asyncProperty(call, anyPath, async (name, path) => {
        touched.length = 0
        const input = {
          Read: { file_path: path },
          Write: { file_path: path, content: 'x' },
          Edit: { file_path: path, old_string: 'in', new_string: 'out' },
          Glob: { pattern: '**', path },
          Grep: { pattern: 'secret', path },
        }[name]
        const { text } = await runTool(tools, name as string, input)
        opened += touched.length
        expect(touched.filter(({ where }) => !isInside(root, where))).toEqual([])
        expect(text).not.toContain('secret\n')
      }),
      { numRuns: runs },
    )
    await close()
    // the watch works, and not everything was rejected
    expect(opened).toBeGreaterThan(runs / 10)
  })
})
