import { join } from 'node:path'
import { type Disk, temporaryEnd, writeWhole } from './disk.ts'
import { blobFile, blobName, type SessionFiles } from './session-files.ts'

/** Keeps a large value beside the log, durable before the record that refers to it. Returns its name. */
export async function writeBlob(disk: Disk, files: SessionFiles, text: string): Promise<string> {
  const data = Buffer.from(text)
  const blob = blobName(files, data)
  const path = blobFile(files, blob)
  await writeWhole(disk, path, data, (temporary) => disk.rename(temporary, path))
  await disk.syncFolder(files.folder)
  return blob
}

/** Throws if the blob is missing or not what was written. */
export async function readBlob(disk: Disk, files: SessionFiles, blob: string): Promise<string> {
  const data = await disk.read(blobFile(files, blob))
  if (data === undefined) throw new Error(`its blob ${blob} is missing`)
  if (blobName(files, data) !== blob) throw new Error(`its blob ${blob} has changed`)
  return Buffer.from(data).toString()
}

const blobOf = (file: string): string | undefined => /^([0-9a-f]{64})\.blob$/.exec(file)?.[1]

const day = 24 * 60 * 60 * 1_000

/** Removes what a crash left behind: unfinished files, and blobs that no record refers to. */
export async function removeLeftovers(
  disk: Disk,
  folder: string,
  usedBlobs: () => Promise<ReadonlySet<string> | undefined>,
): Promise<void> {
  const names = await disk.list(folder)
  const candidates = names.filter((file) => temporaryEnd.test(file) || blobOf(file) !== undefined)
  if (candidates.length === 0) return
  // a younger file may belong to a record that is being written
  const limit = (await disk.now(folder)) - day
  const old: string[] = []
  for (const file of candidates) if ((await disk.changedAt(join(folder, file))) < limit) old.push(file)
  if (old.length === 0) return
  const used = await usedBlobs()
  for (const file of old) {
    const blob = blobOf(file)
    if (blob === undefined || used?.has(blob) === false) await disk.remove(join(folder, file))
  }
}
