import { toolError } from 'signalbox'
import type { FileToolDeps } from './file-tool.ts'
import { isUnchanged } from './workspace/read-memory.ts'
import { hashOf, readWhole, type WholeFile } from './workspace/read-whole.ts'
import type { FoundPlace } from './workspace/workspace.ts'

/** Returns the file if it is unchanged since the model read it. */
export async function freshFile(
  { workspace, memory }: FileToolDeps,
  place: FoundPlace,
  maxBytes: number,
): Promise<WholeFile> {
  const seen = memory.recall(place.path)
  if (seen === undefined) {
    throw toolError(`${place.shown} has not been read yet. Read it first, then retry the change.`, 'NotRead')
  }
  const whole = await readWhole(workspace, place, maxBytes)
  if (!isUnchanged(seen, whole.facts, hashOf(whole.bytes))) {
    throw toolError(`${place.shown} has changed since it was read. Read it again, then retry the change.`, 'Stale')
  }
  return whole
}
