import type { AnyActorRef } from 'xstate'
import { describeValue } from '../../base/describe-value.ts'
import { SignalboxError } from '../../base/signalbox-error.ts'
import type { Message } from '../../messages/message.ts'
import type { QueryMessage } from '../../query/query-message.ts'
import type { PermissionAnswer } from '../../tool/permission.ts'
import type { Recovered } from '../frames/frame.ts'
import { type Connection, isConnection } from './connection-watch.ts'
import type { Inspectable } from './run-watch.ts'

/** The methods behind commands. Only the first answer to a question counts. */
export interface Commands {
  abort(reason?: unknown): void
  /** Only for an executor without a query. */
  discard?(): unknown
  answer?(toolUseID: string, answer: PermissionAnswer): boolean
  /** Sends a running call to the background. */
  detach?(toolUseID: string): boolean
  /** The rule that a question offers, to allow every such call. */
  ruleFor?(toolUseID: string): string | undefined
}

/** An executor that can be shown and takes commands. */
export interface Commandable extends Inspectable, Commands {}

/** A query. Each attempt at a reply has its own executor, and each is shown. */
export interface Conversation {
  readonly actor: AnyActorRef
  /** The executor of the current attempt. */
  readonly executor: Commandable
  onExecutor(listener: (executor: Commandable) => void): () => void
  /** The texts around the calls. */
  onMessage?(listener: (message: QueryMessage) => void): () => void
  readonly transcript?: readonly Message[]
  /** It goes on with a turn that another process began. */
  readonly recovered?: Recovered | undefined
  abort(reason?: unknown): void
  interrupt(): void
}

export type Showable = Commandable | Conversation | Connection

export const isConversation = (shown: Showable): shown is Conversation => 'onExecutor' in shown

/** Throws when the object is passed in, not later when somebody watches. */
export function assertShowable(shown: unknown): asserts shown is Showable {
  if (typeof shown === 'object' && shown !== null) {
    const executor: Partial<Commandable> = isConversation(shown as Showable) ? (shown as Conversation).executor : shown
    const listens = isConnection(shown) ? shown.onWaiting : executor?.on
    if (typeof executor?.actor?.getSnapshot === 'function' && typeof listens === 'function') return
  }
  throw new SignalboxError(
    'invalid_option',
    `Expected an executor, a query or a connection to show, received ${describeValue(shown, 80)}.`,
  )
}
