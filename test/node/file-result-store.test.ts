import { chmod, mkdir, mkdtemp, open, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileResultStore } from 'signalbox/node'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { drain, resultOf, testTurn } from '../support/turn.ts'

describe('the file store', () => {
  let home: string
  let folder: string
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'signalbox-store-'))
    folder = join(home, 'results')
  })
  afterEach(() => rm(home, { recursive: true, force: true }))

  const result = (text: string, toolUseID = 'a') => ({ toolUseID, toolName: 'Big', text })
  const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

  it('P10 keeps the whole text in a file that only this user can read', async () => {
    const { path } = await fileResultStore({ folder }).save(result('héllo'))
    expect(await readFile(path, 'utf8')).toBe('héllo')
    expect([await modeOf(folder), await modeOf(path)]).toEqual(['700', '600'])
    expect(await readdir(folder)).toHaveLength(1)
  })

  it.each<[object, RegExp]>([
    [{ directory: '/x' }, /Unknown option directory/],
    [{ folder: 5 }, /folder/],
    [{ maxAgeMs: Number.NaN }, /maxAgeMs/],
  ])('P10 rejects %j instead of storing files in the default folder', (options, problem) => {
    expect(() => fileResultStore(options)).toThrow(problem)
  })

  it('D5 the text and then its name are on the disk before save resolves', async () => {
    const probe = await open(home)
    const syncs: { readonly names: string[]; readonly end: () => void }[] = []
    const sync = vi.spyOn(Object.getPrototypeOf(probe), 'sync').mockImplementation(async () => {
      const names = await readdir(folder)
      await new Promise<void>((end) => syncs.push({ names, end }))
    })
    try {
      let isSaved = false
      const saving = fileResultStore({ folder }).save(result('text'))
      void saving.then(() => {
        isSaved = true
      })
      await expect.poll(() => syncs.length).toBe(1)
      // its name must not lead to a text that a power cut would lose
      expect(syncs[0]?.names).toEqual([expect.stringMatching(/\.tmp$/)])
      syncs[0]?.end()
      await expect.poll(() => syncs.length).toBe(2)
      expect([syncs[1]?.names, isSaved]).toEqual([[expect.stringMatching(/\.txt$/)], false])
      syncs[1]?.end()
      expect(dirname((await saving).path)).toBe(folder)
    } finally {
      sync.mockRestore()
      await probe.close()
    }
  })

  it('P10 makes an existing folder private', async () => {
    await mkdir(folder)
    await chmod(folder, 0o777)
    await fileResultStore({ folder }).save(result('x'))
    expect(await modeOf(folder)).toBe('700')
  })

  it('P10 no text from a model becomes part of a path (hermes-agent PR#55929)', async () => {
    const store = fileResultStore({ folder })
    for (const id of ['../../etc/passwd', '/abs', 'a\0b', '', 'x'.repeat(10_000), 'CON', '..']) {
      const { path } = await store.save(result('x', id))
      expect([dirname(path), /^[0-9a-f]{32}\.txt$/.test(path.slice(folder.length + 1))]).toEqual([folder, true])
    }
  })

  it('P10 the same result twice is one file; different results with the same id are different files', async () => {
    const store = fileResultStore({ folder })
    const paths = await Promise.all(['one', 'one', 'two'].map((text) => store.save(result(text))))
    expect(new Set(paths.map(({ path }) => path)).size).toBe(2)
    expect(await readdir(folder)).toHaveLength(2)
  })

  it('P10 removes only its own old files', async () => {
    const store = fileResultStore({ folder, maxAgeMs: 1_000 })
    const { path } = await store.save(result('old'))
    const foreign = join(folder, 'notes.txt')
    await writeFile(foreign, 'mine')
    for (const each of [path, foreign]) await utimes(each, 1, 1)
    expect(await store.sweep()).toBe(1)
    expect(await readdir(folder)).toEqual(['notes.txt'])
    expect(await fileResultStore({ folder: join(home, 'nowhere') }).sweep()).toBe(0)
  })

  it('P10 rejects a path that is not a folder, and works again once that is removed', async () => {
    const store = fileResultStore({ folder })
    await symlink(home, folder)
    await expect(store.save(result('x'))).rejects.toThrow('expected a folder')
    await rm(folder)
    await writeFile(folder, 'a file')
    await expect(store.save(result('x'))).rejects.toThrow()
    await rm(folder)
    expect((await store.save(result('x'))).path).toContain(folder)
  })

  it('P10 an error of the disk loses the file, not the result', async () => {
    await writeFile(folder, 'a file')
    const tool = {
      name: 'Big',
      inputSchema: z.object({}),
      maxResultSizeChars: 10,
      call: async () => ({ data: 'x'.repeat(100) }),
    }
    const { add, executor } = testTurn([tool], { resultStore: fileResultStore({ folder }) })
    add('a', 'Big')
    const [update] = await drain(executor)
    expect(update && resultOf(update).content).toMatch(/^x{10}\n.*could not be stored: .*EEXIST/s)
  })

  it('P10 a failed write leaves no temporary file', async () => {
    const store = fileResultStore({ folder })
    const { path } = await store.save(result('x'))
    await rm(path)
    await mkdir(path)
    await expect(store.save(result('x'))).rejects.toThrow()
    expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })
})
