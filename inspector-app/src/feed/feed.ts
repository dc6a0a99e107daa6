import type { Command } from '../../../src/inspect/index.ts'

/** Where frames come from as they come about: a server, or executors in this very page. */
export interface Feed {
  /** Resolves with what was wrong, or with nothing. */
  command(run: number, command: Command, details?: { call: string; allow: boolean }): Promise<string | undefined>
  close(): void
}
