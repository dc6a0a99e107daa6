import { dirname, isAbsolute, join, resolve } from 'node:path'
import { isInside } from './is-inside.ts'
import type { Workspace } from './workspace.ts'

/** Whether one of these paths is inside a git folder, whatever that folder is called. */
export async function belongsToGit(workspace: Workspace, paths: readonly string[]): Promise<boolean> {
  if (paths.some((path) => /(?:^|[\\/])\.git(?:[\\/]|$)/i.test(path))) return true
  for (const path of paths) {
    const root = workspace.roots.find((each) => isInside(each, path))
    for (let folder = dirname(path); root !== undefined && isInside(root, folder); folder = dirname(folder)) {
      if (await looksLikeRepository(workspace, folder)) return true
      const kept = await whereGitKeeps(workspace, folder)
      if (kept !== undefined && paths.some((each) => isInside(kept, each))) return true
    }
  }
  return false
}

/** A bare repository, or the folder that a `.git` elsewhere points to. */
async function looksLikeRepository({ fileSystem }: Workspace, folder: string): Promise<boolean> {
  const has = (name: string): Promise<boolean> =>
    fileSystem.lstat(join(folder, name)).then(
      () => true,
      () => false,
    )
  return (await has('HEAD')) && ((await has('objects')) || (await has('refs')) || (await has('commondir')))
}

/** The target of a folder's `.git`, if it is a link or a file that names another folder. */
async function whereGitKeeps({ fileSystem }: Workspace, folder: string): Promise<string | undefined> {
  const path = join(folder, '.git')
  try {
    const { kind } = await fileSystem.lstat(path)
    if (kind === 'link') return await fileSystem.realpath(path)
    if (kind !== 'file') return undefined
    const target = /^gitdir: (.*)$/m.exec(await readStart(fileSystem, path))?.[1]
    return target === undefined
      ? undefined
      : await fileSystem.realpath(isAbsolute(target) ? target : resolve(folder, target))
  } catch {
    return undefined
  }
}

async function readStart(fileSystem: Workspace['fileSystem'], path: string): Promise<string> {
  const file = await fileSystem.openToRead(path)
  try {
    const bytes = new Uint8Array(4_096)
    const length = await file.read(bytes, 0)
    return new TextDecoder().decode(bytes.subarray(0, length))
  } finally {
    await file.close()
  }
}
