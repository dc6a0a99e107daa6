import { join } from 'node:path'
import type { Disk } from './disk.ts'
import { temporaryEnd } from './write-whole.ts'

const blobOf = (file: string): string | undefined => /^([0-9a-f]{64})\.blob$/.exec(file)?.[1]

const day = 24 * 60 * 60 * 1_000

/** Removes what a crash left behind: unfinished files, and blobs that no record refers to. */
export async function removeLeftovers(
  disk: Disk,
  folder: string,
  usedBlobs: () => Promise<ReadonlySet<string> | undefined>,
): Promise<void> {
  // a younger file may belong to a record that is being written
  const limit = Date.now() - day
  const names = await disk.list(folder)
  const candidates = names.filter((file) => temporaryEnd.test(file) || blobOf(file) !== undefined)
  const old: string[] = []
  for (const file of candidates) if ((await disk.changedAt(join(folder, file))) < limit) old.push(file)
  if (old.length === 0) return
  const used = await usedBlobs()
  for (const file of old) {
    const blob = blobOf(file)
    if (blob === undefined || used?.has(blob) === false) await disk.remove(join(folder, file))
  }
}
