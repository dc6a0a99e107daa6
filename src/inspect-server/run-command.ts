import type { AnyActorRef } from 'xstate'
import type { Inspectable } from '../inspect/index.ts'
import type { ClientMessage } from './client-message.ts'

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

export type Showable = Commandable | Conversation

export const isConversation = (shown: Showable): shown is Conversation => 'onExecutor' in shown

const deniedInBrowser = 'The user denied this call in the inspector.'

/** Undefined where it was done, else why not. */
export function runCommand(
  executor: Commandable | undefined,
  { command, call, isAllowed }: Extract<ClientMessage, { type: 'command' }>,
): string | undefined {
  if (executor === undefined) return 'This run is not live any more.'
  if (command === 'interrupt') executor.abort('interrupt')
  else if (command === 'abort') executor.abort('inspector')
  else if (command === 'discard') executor.discard()
  else {
    const answer = isAllowed
      ? ({ behavior: 'allow' } as const)
      : ({ behavior: 'deny', message: deniedInBrowser } as const)
    if (call === undefined || executor.answer?.(call, answer) !== true) return 'This question is not open any more.'
  }
  return undefined
}
