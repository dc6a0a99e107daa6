import { basename, dirname, join } from 'node:path'
import { readField } from '../read-field.ts'
import type { FileSystem, OpenFolder } from './file-system.ts'
import type { Workspace } from './workspace.ts'

/** Holds a folder of the workspace open, by its real path. The caller closes it. */
export const holdFolder = ({ fileSystem }: Workspace, path: string): Promise<OpenFolder> =>
  fileSystem.openFolder?.(path) ?? folderByPath(fileSystem, path)

/** Like holdFolder, but creates missing folders: each inside its parent, which is held open meanwhile. */
export async function holdNewFolder(workspace: Workspace, path: string): Promise<OpenFolder> {
  try {
    return await holdFolder(workspace, path)
  } catch (error) {
    if (readField(error, 'code') !== 'ENOENT' || workspace.roots.includes(path)) throw error
  }
  const above = await holdNewFolder(workspace, dirname(path))
  try {
    await above.makeFolder(basename(path))
    return await above.openFolder(basename(path))
  } finally {
    await above.close()
  }
}

/** Fallback if folders cannot be held open: the path is checked before and after. */
async function folderByPath(fileSystem: FileSystem, path: string): Promise<OpenFolder> {
  const assertInPlace = async (): Promise<void> => {
    if ((await fileSystem.realpath(path)) === path) return
    throw Object.assign(new Error(`${path} leads elsewhere`), { code: 'EMOVED' })
  }
  await assertInPlace()
  const at = (name: string): string => join(path, name)
  const checked = async <Done>(work: () => Promise<Done>): Promise<Done> => {
    await assertInPlace()
    return work()
  }
  return {
    lstat: (name) => fileSystem.lstat(at(name)),
    async openToRead(name) {
      const file = await fileSystem.openToRead(at(name))
      try {
        await assertInPlace()
        return file
      } catch (error) {
        await file.close().catch(() => undefined)
        throw error
      }
    },
    openNew: (name, mode) => checked(() => fileSystem.openNew(at(name), mode)),
    openFolder: (name) => folderByPath(fileSystem, at(name)),
    async entries() {
      const entries = await fileSystem.readFolder(path)
      await assertInPlace()
      return entries
    },
    makeFolder: (name) => checked(() => fileSystem.makeFolder(at(name))),
    rename: (from, to) => checked(() => fileSystem.rename(at(from), at(to))),
    link: (from, to) => checked(() => fileSystem.link(at(from), at(to))),
    remove: (name) => checked(() => fileSystem.remove(at(name))),
    close: async () => undefined,
  }
}
