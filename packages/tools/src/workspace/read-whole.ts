import { createHash } from 'node:crypto'
import { toolError } from 'signalbox'
import { fileError } from './describe-file-error.ts'
import type { FileFacts } from './file-system.ts'
import { openToRead } from './open-to-read.ts'
import type { FoundPlace, Workspace } from './workspace.ts'

export interface WholeFile {
  readonly bytes: Uint8Array
  readonly facts: FileFacts
}

const step = 64 * 1024

/** Reads a whole file, up to a size. The reported size is not trusted: a file may grow meanwhile. */
export async function readWhole(workspace: Workspace, place: FoundPlace, maxBytes: number): Promise<WholeFile> {
  const { file, facts } = await openToRead(workspace, place)
  try {
    let bytes = Buffer.allocUnsafe(Math.min(facts.size + 1, maxBytes + 1))
    let length = 0
    for (;;) {
      if (length === bytes.length) bytes = Buffer.concat([bytes, Buffer.allocUnsafe(step)])
      const read = await file.read(bytes.subarray(length), length)
      if (read === 0) return { bytes: bytes.subarray(0, length), facts }
      length += read
      if (length > maxBytes) throw toolError(`${place.shown} is larger than ${maxBytes} bytes.`, 'TooLarge')
    }
  } catch (error) {
    throw fileError(error, `Cannot read ${place.shown}`)
  } finally {
    await file.close().catch(() => undefined)
  }
}

export const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
