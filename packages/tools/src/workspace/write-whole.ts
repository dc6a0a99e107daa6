import { basename, dirname, join } from 'node:path'
import { toolError } from 'signalbox'
import { fileError } from './describe-file-error.ts'
import type { FileFacts, OpenFolder } from './file-system.ts'
import { holdNewFolder } from './hold-folder.ts'
import { noteWrite, temporaryName } from './pending-writes.ts'
import type { FoundPlace, Workspace } from './workspace.ts'

export interface WriteOptions {
  /** The file to replace, whose mode and owner are kept; if undefined, the path must not exist. */
  replaces?: FileFacts | undefined
}

const newMode = 0o666

/** Writes atomically: a reader sees the old file or the new one. Returns the state of the new file. */
export async function writeWhole(
  workspace: Workspace,
  { path, shown }: FoundPlace,
  bytes: Uint8Array,
  { replaces }: WriteOptions = {},
): Promise<FileFacts> {
  const [above, name] = [dirname(path), basename(path)]
  const temporary = temporaryName()
  const forget = await noteWrite(workspace, join(above, temporary))
  let folder: OpenFolder | undefined
  try {
    folder = await holdNewFolder(workspace, above)
    await writeNew(folder, temporary, bytes, replaces)
    if (replaces === undefined) await claim(folder, temporary, name, shown)
    else {
      await assertUnchanged(folder, name, shown, replaces)
      await folder.rename(temporary, name)
    }
    return await folder.lstat(name)
  } catch (error) {
    throw fileError(error, `Cannot write ${shown}`)
  } finally {
    await folder?.remove(temporary).catch(() => undefined)
    await forget()
    await folder?.close().catch(() => undefined)
  }
}

async function writeNew(folder: OpenFolder, name: string, bytes: Uint8Array, like?: FileFacts): Promise<void> {
  const file = await folder.openNew(name, newMode)
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
  folder: OpenFolder,
  name: string,
  shown: string,
  { identity, mtimeNs, size }: FileFacts,
): Promise<void> {
  const now = await folder.lstat(name)
  if (now.identity !== identity || now.mtimeNs !== mtimeNs || now.size !== size) {
    throw toolError(`${shown} was changed by another process during the write. Read it again.`, 'Stale')
  }
}

/** Takes the name only if it is free: a rename would replace a file created meanwhile. */
async function claim(folder: OpenFolder, from: string, to: string, shown: string): Promise<void> {
  try {
    await folder.link(from, to)
  } catch (error) {
    const code = (error as { code?: unknown }).code
    if (code === 'EEXIST')
      throw toolError(`${shown} was created by another process meanwhile. Read it first.`, 'EEXIST')
    // some file systems have no hard links
    await folder.rename(from, to)
  }
}
