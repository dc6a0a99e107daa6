import type { PermissionAnswer } from '../tool/permission.ts'
import type { OpenTurn } from './open-turn.ts'
import type { SessionRecord } from './records.ts'

/** The log of a session as a run sees it. Nothing here throws or rejects. */
export interface RunLog {
  /** The id of the session. */
  readonly session: string
  /** The turn that the log has and that is not over: a run that begins goes on with it. */
  readonly turn: OpenTurn | undefined
  /** Replies of this run that count. */
  readonly turns: number
  /** The run has gone over to its fallback model. */
  readonly usesFallback: boolean
  /** Messages that are sent and not yet part of the conversation, by uuid. */
  readonly waiting: readonly string[]
  /** Keys of the context that are kept. */
  readonly contextKeys: readonly string[]
  /** Why nothing can be recorded any more. */
  readonly failure: unknown
  append(record: SessionRecord): void
  /** Resolves when everything appended so far is durable, with false if it never will be; undefined if it already is. */
  flush(): Promise<boolean> | undefined
  /** Told once, when the log fails. */
  onFailure(listener: (error: unknown) => void): () => void
  /** The id of the question that a call asks with this input. */
  questionId(reply: string, call: string, input: unknown): string
  /** An answer of the host that took its time. It counts if it is the first. */
  offer(question: string, answer: PermissionAnswer): void
}

/** What the executor of one attempt needs of the log. */
export interface ExecutorLog {
  readonly log: RunLog
  /** The charts are at rest. */
  atRest(): void
}
