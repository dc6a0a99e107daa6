import type { Command } from '../../../src/inspect/index.ts'

/** The answer to a question. */
interface Answer {
  readonly call: string
  readonly allow?: boolean
  /** Why it is denied, for the model. */
  readonly message?: string
  /** Allow every such call from now on, by the rule that the question offers. */
  readonly always?: boolean
}

/** A live source of frames: a server, or executors in this page. */
export interface Feed {
  /** Resolves with an error message, or undefined. */
  command(run: number, command: Command, details?: Answer): Promise<string | undefined>
  close(): void
}
