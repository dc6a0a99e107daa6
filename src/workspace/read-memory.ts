import type { ToolUseContext } from '../tool/tool-use-context.ts'
import type { FileFacts } from './file-system.ts'

/** What was known of a file when it was read or written. */
export interface SeenFile {
  readonly mtimeNs: bigint
  readonly size: number
  readonly identity: string
  /** Of the whole content. Times are too coarse: two writes can fall into one tick. */
  readonly hash?: string | undefined
}

/** What was read when, by real path: only what a model has seen may it replace. */
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

/** Whether a file is still what was read. */
export function isUnchanged(seen: SeenFile, facts: FileFacts, hash: string): boolean {
  if (seen.hash !== undefined) return seen.hash === hash
  return seen.mtimeNs === facts.mtimeNs && seen.size === facts.size && seen.identity === facts.identity
}
