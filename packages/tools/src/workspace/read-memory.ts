import type { ToolUseContext } from 'signalbox'
import type { FileFacts } from './file-system.ts'

/** The state of a file when it was read or written. */
export interface SeenFile {
  readonly mtimeNs: bigint
  readonly size: number
  readonly identity: string
  /** Hash of the whole content. Times are too coarse: two writes can fall into one tick. */
  readonly hash?: string | undefined
}

/** Which files were read, by real path: a model may only replace what it has read. */
export interface ReadMemory {
  note(path: string, facts: FileFacts, hash: string | undefined, context?: ToolUseContext): void
  recall(path: string): SeenFile | undefined
}

export function createReadMemory(): ReadMemory {
  const seen = new Map<string, SeenFile>()
  return {
    note(path, { mtimeNs, size, identity }, hash, context) {
      seen.set(path, { mtimeNs, size, identity, hash })
      // for hosts that want to know too
      const times = context?.readFileTimestamps
      if (times instanceof Map) times.set(path, Number(mtimeNs / 1_000_000n))
    },
    recall: (path) => seen.get(path),
  }
}

/** Whether a file is unchanged since it was read. */
export function isUnchanged(seen: SeenFile, facts: FileFacts, hash: string): boolean {
  if (seen.hash !== undefined) return seen.hash === hash
  return seen.mtimeNs === facts.mtimeNs && seen.size === facts.size && seen.identity === facts.identity
}
