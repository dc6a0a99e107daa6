import { randomBytes } from 'node:crypto'
import type { Disk } from './disk.ts'

/** The end of the name of a file that is being written. One that is left behind is removed by `sweep`. */
export const temporaryEnd = /\.[0-9a-f]{12}\.tmp$/

/** Writes a file beside its place, durable, and hands it to `place`, which gives it its name. */
export async function writeWhole<T>(
  disk: Disk,
  path: string,
  data: Uint8Array,
  place: (temporary: string) => Promise<T>,
): Promise<T> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  try {
    await disk.write(temporary, data)
    return await place(temporary)
  } finally {
    // after a rename there is nothing left; a failure here must not hide another
    await disk.remove(temporary).catch(() => undefined)
  }
}
