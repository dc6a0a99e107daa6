import type { Disk } from './disk.ts'
import { blobFile, blobName, type SessionFiles } from './session-files.ts'
import { writeWhole } from './write-whole.ts'

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
