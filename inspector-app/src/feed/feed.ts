import type { Command } from '../../../src/inspect/index.ts'

/** A live source of frames: a server, or executors in this page. */
export interface Feed {
  /** Resolves with an error message, or undefined. */
  command(run: number, command: Command, details?: { call: string; allow: boolean }): Promise<string | undefined>
  close(): void
}
