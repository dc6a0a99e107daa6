import { isUnchanged } from '../workspace/read-memory.ts'
import { hashOf, readWhole, type WholeFile } from '../workspace/read-whole.ts'
import { toolError } from '../workspace/tool-error.ts'
import type { FoundPlace } from '../workspace/workspace.ts'
import type { FileDesk } from './file-tool.ts'

/** The file as it is, if it is still what the model has read. */
export async function freshFile(
  { workspace, memory }: FileDesk,
  place: FoundPlace,
  maxBytes: number,
): Promise<WholeFile> {
  const seen = memory.recall(place.path)
  if (seen === undefined) {
    throw toolError(`${place.shown} has not been read yet. Read it first, then change it.`, 'NotRead')
  }
  const whole = await readWhole(workspace, place, maxBytes)
  if (!isUnchanged(seen, whole.facts, hashOf(whole.bytes))) {
    throw toolError(`${place.shown} has changed since it was read. Read it again, then change it.`, 'Stale')
  }
  return whole
}
