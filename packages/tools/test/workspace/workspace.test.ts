import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { allowAllTools, isSignalboxError, query } from '../../../../src/index.ts'
import { scriptedModel } from '../../../../src/query/scripted/index.ts'
import { createTools, openTools, type ProcessRequest } from '../../src/index.ts'
import { nodeFileSystem } from '../../src/workspace/node-file-system.ts'
import { openToRead } from '../../src/workspace/open-to-read.ts'
import { createWorkspace, type FoundPlace } from '../../src/workspace/workspace.ts'
import { put, runTool, scratch } from '../bench.ts'

describe('a workspace', () => {
  const both = () => {
    const root = scratch({ 'in.txt': 'in', 'sub/a.txt': 'a' })
    const outside = scratch({ 'secret.txt': 'secret' })
    return { root, outside, workspace: createWorkspace({ root }) }
  }

  it('resolves inside paths, relative and absolute, existing or not', async () => {
    const { root, workspace } = both()
    expect(await workspace.resolve('sub/../in.txt')).toEqual({
      ok: true,
      path: join(root, 'in.txt'),
      called: join(root, 'in.txt'),
      shown: 'in.txt',
      exists: true,
    })
    expect(await workspace.resolve(join(root, 'sub/new/b.txt'))).toMatchObject({
      shown: 'sub/new/b.txt',
      exists: false,
    })
    expect(await workspace.resolve('.')).toMatchObject({ path: root, shown: '.' })
    expect(await workspace.resolve(root)).toMatchObject({ ok: true })
  })

  it('rejects outside paths: dots, absolute paths, a folder with the same prefix', async () => {
    const { root, outside, workspace } = both()
    const twin = `${root}-evil`
    mkdirSync(twin)
    onTestFinished(() => rmSync(twin, { recursive: true, force: true }))
    put(join(twin, 'a.txt'), 'evil')
    for (const path of [
      '../../../../test',
      '../x',
      'sub/../../x',
      outside,
      '/etc/passwd',
      '/',
      twin,
      join(twin, 'a.txt'),
      `${root}/../${basename(twin)}/a.txt`,
    ]) {
      expect(await workspace.resolve(path), path).toMatchObject({
        ok: false,
        message: expect.stringContaining('outside the workspace'),
      })
    }
  })

  it('follows links, and rejects those that lead out, at the end or on the way', async () => {
    const { root, outside, workspace } = both()
    symlinkSync(join(outside, 'secret.txt'), join(root, 'file-link'))
    symlinkSync(outside, join(root, 'folder-link'))
    symlinkSync('sub', join(root, 'inner-link'))
    symlinkSync('circle', join(root, 'circle'))
    symlinkSync(join(outside, 'later'), join(root, 'nowhere'))
    expect(await workspace.resolve('inner-link/a.txt')).toMatchObject({ shown: 'sub/a.txt' })
    for (const path of ['file-link', 'folder-link', 'folder-link/secret.txt', 'folder-link/not/there']) {
      expect(await workspace.resolve(path), path).toMatchObject({ message: expect.stringContaining('outside') })
    }
    expect(await workspace.resolve('circle')).toMatchObject({ message: expect.stringContaining('form a loop') })
    expect(await workspace.resolve('nowhere/x')).toMatchObject({
      message: expect.stringContaining('broken symbolic link'),
    })
  })

  it('gives the same error for outside paths, whether they exist or not', async () => {
    const { root, outside, workspace } = both()
    symlinkSync(outside, join(root, 'out'))
    const there = await workspace.resolve('out/secret.txt')
    const missing = await workspace.resolve('out/absent.txt')
    expect(JSON.stringify(there).replace('secret', 'absent')).toBe(JSON.stringify(missing))
  })

  it('rejects invalid paths with a reason', async () => {
    const { workspace } = both()
    const reasons = await Promise.all(
      ['', 'a\0b', 'x'.repeat(5_000), '~/x', 'in.txt/x', `${'y'.repeat(300)}`].map((path) => workspace.resolve(path)),
    )
    expect(reasons.map((place) => !place.ok && place.message.slice(-45))).toMatchInlineSnapshot(`
      [
        "The path is empty. Pass a file path.",
        "The path contains a NUL character. Remove it.",
        "The path is longer than 4096 characters.",
        "olute path, or one relative to the workspace.",
        "a parent of the path is a file, not a folder.",
        "yyyyyyyyyyyyyyyyyyyyy…: the name is too long.",
      ]
    `)
  })

  it('uses the roots it was created with, also by their given names', async () => {
    const { root, outside } = both()
    const alias = join(scratch(), 'alias')
    symlinkSync(root, alias)
    const workspace = createWorkspace({ root: alias, moreRoots: [outside] })
    expect(workspace.roots).toEqual([root, outside])
    expect(await workspace.resolve(join(alias, 'in.txt'))).toMatchObject({ path: join(root, 'in.txt') })
    expect(await workspace.resolve(join(outside, 'secret.txt'))).toMatchObject({
      ok: true,
      shown: join(outside, 'secret.txt'),
    })
    expect(await workspace.resolve(dirname(alias))).toMatchObject({ ok: false })
  })

  it('detects that its root was replaced by a link or removed', async () => {
    const { root, outside, workspace } = both()
    renameSync(root, join(outside, 'moved'))
    expect(await workspace.resolve('in.txt')).toMatchObject({ message: expect.stringContaining('no longer exists') })
    symlinkSync(outside, root)
    expect(await workspace.resolve('secret.txt')).toMatchObject({ ok: false })
  })

  it('does not read a replacement of a file at the last moment', async () => {
    const { root, outside, workspace } = both()
    const place = (await workspace.resolve('in.txt')) as FoundPlace
    const swapped = createWorkspace({
      root,
      fileSystem: {
        ...nodeFileSystem,
        lstat: async (path) => {
          const facts = await nodeFileSystem.lstat(path)
          renameSync(path, `${path}.old`)
          symlinkSync(join(outside, 'secret.txt'), path)
          return facts
        },
      },
    })
    await expect(openToRead(swapped, place)).rejects.toThrow(/Cannot read in.txt/)
    const folder = (await workspace.resolve('sub/a.txt')) as FoundPlace
    put(join(outside, 'a.txt'), 'secret')
    renameSync(join(root, 'sub'), join(root, 'was-sub'))
    symlinkSync(outside, join(root, 'sub'))
    await expect(openToRead(workspace, folder)).rejects.toThrow(/changed while it was being opened/)
  })

  it('rejects a root that is not an existing folder', () => {
    for (const root of ['', '/not/there', 5 as unknown as string]) {
      expect(() => createWorkspace({ root })).toThrow(expect.objectContaining({ code: 'invalid_option' }))
    }
    try {
      createWorkspace({ root: '/not/there' })
    } catch (error) {
      expect(isSignalboxError(error)).toBe(true)
    }
  })
})

describe('a file system of another machine', () => {
  const { realpathSync: _, openFolder: __, ...remote } = nodeFileSystem

  it('needs no synchronous functions', async () => {
    const root = scratch({ 'a.txt': 'x', 'sub/b.txt': 'y' })
    expect(() => createTools({ root, fileSystem: remote })).toThrow('openTools')
    const { tools, close } = await openTools({ root, fileSystem: remote, ripgrep: false })
    onTestFinished(close)
    expect((await runTool(tools, 'Read', { file_path: 'a.txt' })).text).toContain('x')
    expect((await runTool(tools, 'Write', { file_path: 'new/deep/c.txt', content: 'z' })).text).toContain('Created')
    expect((await runTool(tools, 'Grep', { pattern: 'y|z' })).text).toBe('new/deep/c.txt\nsub/b.txt')
    expect((await runTool(tools, 'Bash', { command: `cd ${root} && pwd` })).text).toBe(root)
    await expect(openTools({ root: '/not/there', fileSystem: remote })).rejects.toThrow('/not/there cannot be opened')
  })

  it('is not accessed from outside a sandbox while a command runs in it', async () => {
    const root = scratch({ 'a.txt': 'x' })
    const shell = { wrapCommand: (request: ProcessRequest) => request }
    const { tools, close } = await openTools({ root, fileSystem: remote, shell, ripgrep: false })
    onTestFinished(close)
    const read = async () => (await runTool(tools, 'Read', { file_path: 'a.txt' })).text
    const model = scriptedModel([
      [{ call: 'Bash', input: { command: 'sleep 100', run_in_background: true } }],
      [{ call: 'Read', input: { file_path: 'a.txt' } }],
      'done',
    ])
    const run = query({ messages: 'go', tools, model, canUseTool: allowAllTools })
    for await (const _ of run);
    expect(JSON.stringify(run.transcript)).toContain(
      'cannot be used safely on this system while a command runs in the background: sleep 100',
    )
    expect(await read()).toContain('x')
  })
})
