import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { fileError } from './describe-file-error.ts'
import type { FileFacts } from './file-system.ts'
import { toolError } from './tool-error.ts'
import type { FoundPlace, Workspace } from './workspace.ts'

export interface WriteOptions {
  /** The file that is replaced, whose mode and owner are kept; without it there must be none. */
  replaces?: FileFacts | undefined
}

const newMode = 0o666

/** All or nothing: whoever reads sees the old file or the new one. Gives back what the new file is. */
export async function writeWhole(
  workspace: Workspace,
  { path, shown }: FoundPlace,
  bytes: Uint8Array,
  { replaces }: WriteOptions = {},
): Promise<FileFacts> {
  const { fileSystem } = workspace
  const folder = dirname(path)
  const temporary = join(folder, `.signalbox-${randomBytes(8).toString('hex')}.tmp`)
  try {
    await fileSystem.makeFolder(folder)
    await assertInPlace(workspace, folder, shown)
    await writeNew(workspace, temporary, bytes, replaces)
    await assertInPlace(workspace, folder, shown)
    if (replaces === undefined) await claim(workspace, temporary, path, shown)
    else {
      await assertUnchanged(workspace, path, shown, replaces)
      await fileSystem.rename(temporary, path)
    }
    return await fileSystem.lstat(path)
  } catch (error) {
    throw fileError(error, `Cannot write ${shown}`)
  } finally {
    await fileSystem.remove(temporary).catch(() => undefined)
  }
}

/** The folder is still where it was looked for: nobody put a link in its place. */
async function assertInPlace({ fileSystem }: Workspace, folder: string, shown: string): Promise<void> {
  if ((await fileSystem.realpath(folder)) !== folder) {
    throw toolError(`The folder of ${shown} changed while it was being written. Try again.`, 'Moved')
  }
}

async function writeNew({ fileSystem }: Workspace, path: string, bytes: Uint8Array, like?: FileFacts): Promise<void> {
  const file = await fileSystem.openNew(path, newMode)
  try {
    await file.write(bytes)
    if (like !== undefined) {
      const { owner } = await file.facts()
      if (owner.uid !== like.owner.uid || owner.gid !== like.owner.gid) {
        await file.chown(like.owner.uid, like.owner.gid).catch(() => undefined)
      }
      await file.chmod(like.mode)
    }
    await file.sync()
  } finally {
    await file.close()
  }
}

async function assertUnchanged(
  { fileSystem }: Workspace,
  path: string,
  shown: string,
  { identity, mtimeNs, size }: FileFacts,
): Promise<void> {
  const now = await fileSystem.lstat(path)
  if (now.identity !== identity || now.mtimeNs !== mtimeNs || now.size !== size) {
    throw toolError(`${shown} was changed by somebody else at this very moment. Read it again.`, 'Stale')
  }
}

/** Takes the name only if it is free: a rename would replace what came there meanwhile. */
async function claim({ fileSystem }: Workspace, from: string, to: string, shown: string): Promise<void> {
  try {
    await fileSystem.link(from, to)
  } catch (error) {
    const code = (error as { code?: unknown }).code
    if (code === 'EEXIST') throw toolError(`${shown} has come into being meanwhile. Read it first.`, 'EEXIST')
    // some file systems have no hard links
    await fileSystem.rename(from, to)
  }
}
