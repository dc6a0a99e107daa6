import type { SystemMessage } from '../messages/message.ts'
import type { PermissionAnswer } from '../tool/permission.ts'
import type { LoggedBackground, OpenTurn } from './open-turn.ts'
import type { SessionRecord } from './records.ts'

/** The part of a session's log that a run uses. Nothing here throws or rejects. */
export interface RunLog {
  /** The id of the session. */
  readonly session: string
  /** The recorded turn that is unfinished; the next run continues it. */
  readonly turn: OpenTurn | undefined
  /** Replies of this run that count. */
  readonly turns: number
  /** The run uses its fallback model. */
  readonly usesFallback: boolean
  /** Messages that are sent and not yet part of the conversation, by uuid. */
  readonly waiting: readonly string[]
  /** Background calls whose outcomes are not delivered. */
  readonly background: readonly LoggedBackground[]
  /** How many background calls the log has had. */
  readonly backgroundCount: number
  /** Keys of the context that are kept. */
  readonly contextKeys: readonly string[]
  /** Texts that say which changes of the context a resumed session does not have. */
  lostChanges(before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>): string[]
  /** Set until a run ends if this process goes on with the work of another: the owner before, and this one. */
  readonly recovered: { readonly from: string; readonly by: string } | undefined
  /** Why the log accepts no more records. */
  readonly failure: unknown
  /** The log has a reply with this id, even if it was discarded. */
  hasReply(id: string): boolean
  append(record: SessionRecord): void
  /** What to tell the host of the conversation that the session began with. Returned once. */
  takeReports(): SystemMessage[]
  /**
   * Resolves when everything appended so far is durable, with false if it never will be; undefined if it already is.
   * `isAlone`: nothing else follows that could be committed with it.
   */
  flush(isAlone?: boolean): Promise<boolean> | undefined
  /** The same for what a request is made of: messages, replies and results. Marks such as `turn.committed` may follow later. */
  flushContent(): Promise<boolean> | undefined
  /** Called once, when the log fails. */
  onFailure(listener: (error: unknown) => void): () => void
  /** The id of the question that a call asks with this input. */
  questionId(reply: string, call: string, input: unknown): string
  /** An asynchronous answer of the host. It counts if it is the first. */
  offer(question: string, answer: PermissionAnswer): void
  /** The log of the agent inside a call: a new one, or the one that an earlier process began. Rejects if it cannot be opened. */
  openAgent(of: AgentAttempt, created: Readonly<Record<string, unknown>>): Promise<RunLog>
}

/** The call whose body is an agent. */
export interface AgentOf {
  readonly reply: string
  readonly call: string
  readonly tool: string
}

/** One attempt of that call. Each has an agent of its own. */
export interface AgentAttempt extends AgentOf {
  /** Not the first attempt in this process: the first goes on with the agent that an earlier process began. */
  readonly isRetry: boolean
}

/** The part of the log that the executor of one attempt uses. */
export interface ExecutorLog {
  readonly log: RunLog
  /** The charts are at rest. */
  atRest(): void
}
