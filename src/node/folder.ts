import { randomBytes } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { platform } from 'node:os'
import { join } from 'node:path'

/**
 * The time by the clock that stamps the files of a folder. Several machines may share a folder, so the clock of this one
 * says nothing about the age of a file. Named like a file that is being written: one that is left behind is removed.
 */
export async function fileClock(folder: string): Promise<number> {
  const path = join(folder, `${'0'.repeat(32)}.txt.${randomBytes(6).toString('hex')}.tmp`)
  const file = await open(path, 'wx', 0o600)
  try {
    return (await file.stat()).mtimeMs
  } finally {
    await file.close()
    await rm(path, { force: true })
  }
}

/** Makes the name of a new file durable. Windows cannot open a folder, and its file systems keep names by themselves. */
export async function syncFolder(folder: string): Promise<void> {
  if (platform() === 'win32') return
  const file = await open(folder, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
