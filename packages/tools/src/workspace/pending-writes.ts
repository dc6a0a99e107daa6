import { randomBytes } from 'node:crypto'
import { lstat, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { readField } from '../read-field.ts'
import { holdFolder } from './hold-folder.ts'
import { isInside } from './is-inside.ts'
import { nodeFileSystem } from './node-file-system.ts'
import type { Workspace } from './workspace.ts'

/** A file is written under this name, and renamed when it is complete. */
export const temporaryName = (): string => `.signalbox-${randomBytes(8).toString('hex')}.tmp`

const isTemporary = (path: string): boolean => /^\.signalbox-[0-9a-f]{16}\.tmp$/.test(basename(path))

/** The folder where a process notes its pending writes, so that leftovers of a killed process can be found. */
const notesFolder = (): string => join(tmpdir(), `signalbox-${process.getuid?.() ?? 'user'}-writes`)

/** Notes a write until the returned function is called. Never rejects: a write continues without a note. */
export async function noteWrite({ fileSystem }: Workspace, temporary: string): Promise<() => Promise<void>> {
  const note = join(notesFolder(), `${process.pid}-${randomBytes(8).toString('hex')}`)
  if (fileSystem !== nodeFileSystem || !(await isOurFolder(notesFolder()))) return async () => undefined
  await writeFile(note, temporary, { mode: 0o600, flag: 'wx' }).catch(() => undefined)
  return () => rm(note, { force: true }).catch(() => undefined)
}

/** Removes temporary files that dead processes left in the workspace. Never rejects. */
export async function sweepPendingWrites(workspace: Workspace): Promise<void> {
  const notes = notesFolder()
  if (workspace.fileSystem !== nodeFileSystem || !(await isOurFolder(notes))) return
  const names = await readdir(notes).catch((): string[] => [])
  for (const name of names) {
    if (isAlive(Number.parseInt(name, 10))) continue
    const left = await readFile(join(notes, name), 'utf8').catch(() => undefined)
    // another workspace cleans up its own files
    if (left === undefined || !workspace.roots.some((root) => isInside(root, left))) continue
    if (isTemporary(left)) await removeIn(workspace, left).catch(() => undefined)
    await rm(join(notes, name), { force: true }).catch(() => undefined)
  }
}

async function removeIn(workspace: Workspace, path: string): Promise<void> {
  const folder = await holdFolder(workspace, dirname(path))
  try {
    if ((await folder.lstat(basename(path))).kind === 'file') await folder.remove(basename(path))
  } finally {
    await folder.close()
  }
}

/** Created if missing; rejected if it belongs to another user. */
async function isOurFolder(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
      if (readField(error, 'code') !== 'EEXIST') throw error
    })
    const facts = await lstat(folder)
    return facts.isDirectory() && (process.getuid === undefined || facts.uid === process.getuid())
  } catch {
    return false
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return readField(error, 'code') === 'EPERM'
  }
}
