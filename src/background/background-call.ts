import type { BackgroundOrigin, Message, ProgressMessage } from '../messages/message.ts'
import type { BackgroundStatus, DetachedCall } from './detached-call.ts'

/** A call in the background, as a host or a model sees it. */
export interface BackgroundCall {
  readonly id: string
  /** The call that the model made. */
  readonly toolUseID: string
  readonly toolName: string
  /** A summary for people, such as `Bash(npm test)`. */
  readonly title: string
  readonly status: BackgroundStatus
  /** A query waits for its outcome before it ends. */
  readonly isAwaited: boolean
}

/** A change that observers hear of. `fate`: the outcome is part of the conversation, or nobody gets it. */
export interface BackgroundChange extends BackgroundCall {
  readonly fate?: 'delivered' | 'dropped'
}

/** What a reader of a background call gets. */
export interface BackgroundReading extends BackgroundCall {
  /** What its body has reported since the last reading. */
  readonly output: string
  /** The messages of its outcome, the result first. Absent while it runs. */
  readonly outcome?: readonly Message[]
}

/** The background calls of a query or a session, for its host and for tools that list, read or stop them. */
export interface Background {
  list(): BackgroundCall[]
  /** Those that run, or whose outcomes are not delivered. */
  undelivered(): BackgroundCall[]
  /** Tells a call to stop. False if it is over or unknown. */
  stop(id: string, reason?: unknown): boolean
  /**
   * The current output and outcome of a call, for the result of the tool whose context is given. An outcome counts as
   * delivered when the turn of that result does.
   */
  readIn(id: string, context: { readonly abortController?: unknown }): BackgroundReading | undefined
  /** Resolves when the call is over, or the time is up. */
  wait(id: string, ms: number, signal: AbortSignal): Promise<void>
  /** Calls the listener when a call comes or changes its status. Returns a function that removes it. */
  onChange(listener: (change: BackgroundChange) => void): () => void
}

/** What the background calls tell the query or the session that owns it. */
export interface BackgroundListener {
  /** An outcome can be delivered. */
  ready(): void
  progressed(message: ProgressMessage): void
  /** No chart of a background call is in the middle of a step. */
  atRest?(): void
}

/** It has no outcome yet, or none that may be told. */
export const isOpen = (call: DetachedCall): boolean =>
  call.isUnderWay || call.actor?.getSnapshot().matches({ finished: 'recording' }) === true

export const seen = (call: DetachedCall): BackgroundCall => ({
  id: call.background.id,
  toolUseID: call.id,
  toolName: call.tool?.name ?? call.name,
  title: call.description,
  status: call.status,
  isAwaited: call.background.how.isAwaited,
})

export function originOf(call: DetachedCall): BackgroundOrigin {
  const { id, toolUseID, toolName, status } = seen(call)
  return { id, toolUseID, toolName, status: status as BackgroundOrigin['status'] }
}
