import type { AnyActorRef } from 'xstate'
import { SignalboxError } from '../errors/signalbox-error.ts'
import { describeValue } from '../text/describe-value.ts'
import { type Connection, isConnection } from './connection.ts'
import type { Inspectable } from './run-watch.ts'

/** What commands need of an executor. An answer counts only where nobody answered before. */
export interface Commandable extends Inspectable {
  abort(reason?: unknown): void
  discard(): unknown
  answer?(toolUseID: string, answer: { behavior: 'allow' } | { behavior: 'deny'; message: string }): boolean
}

/** A query: each attempt at a reply has an executor of its own, and each is shown. */
export interface Conversation {
  readonly actor: AnyActorRef
  /** That of the attempt under way. */
  readonly executor: Commandable
  onExecutor(listener: (executor: Commandable) => void): () => void
}

export type Showable = Commandable | Conversation | Connection

export const isConversation = (shown: Showable): shown is Conversation => 'onExecutor' in shown

/** Misuse shows where something is handed in, not when somebody looks. */
export function assertShowable(shown: unknown): asserts shown is Showable {
  if (typeof shown === 'object' && shown !== null) {
    const executor: Partial<Commandable> = isConversation(shown as Showable) ? (shown as Conversation).executor : shown
    const listens = isConnection(shown) ? shown.onWaiting : executor?.on
    if (typeof executor?.actor?.getSnapshot === 'function' && typeof listens === 'function') return
  }
  throw new SignalboxError(
    'invalid_option',
    `Only an executor, a query or a connection can be shown, but got ${describeValue(shown, 80)}.`,
  )
}
