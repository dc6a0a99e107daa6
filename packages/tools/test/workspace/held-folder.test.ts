import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { OpenFolder } from '../../src/workspace/file-system.ts'
import { nodeFileSystem } from '../../src/workspace/node-file-system.ts'
import { scratch } from '../bench.ts'

async function held(path: string): Promise<OpenFolder> {
  const folder = await nodeFileSystem.openFolder?.(path)
  if (folder === undefined) throw new Error('this system cannot hold a folder')
  onTestFinished(() => folder.close())
  return folder
}

describe.runIf(nodeFileSystem.openFolder !== undefined)('a folder that is held open', () => {
  it('makes a folder inside it, once or again', async () => {
    const folder = await held(scratch())
    await folder.makeFolder('new')
    await folder.makeFolder('new')
    expect(await folder.entries()).toEqual([{ name: 'new', kind: 'folder' }])
  })

  it('fails at once when it was removed meanwhile', { timeout: 20_000 }, async () => {
    const path = join(scratch({ 'sub/a.txt': '' }), 'sub')
    const folder = await held(path)
    rmSync(path, { recursive: true })
    await expect(folder.makeFolder('new')).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(folder.openNew('new', 0o600)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('does not enter a link, not even one in the place of a folder to be made', async () => {
    const [root, outside] = [scratch(), scratch()]
    const folder = await held(root)
    symlinkSync(outside, join(root, 'link'))
    await folder.makeFolder('link')
    await expect(folder.openFolder('link')).rejects.toMatchObject({ code: 'ENOTDIR' })
  })
})
