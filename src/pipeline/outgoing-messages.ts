import type { Message, ToolResultMessage } from '../messages/message.ts'
import { CallTrail } from './call-trail.ts'
import { endingMessage } from './completed.ts'
import type { ToolCall } from './tool-call.ts'

const none: readonly Message[] = []

/**
 * The messages of one call that no reader has taken yet: its result, what comes with it, and last its trail. A base class,
 * because an object of its own would be one more per call.
 */
export abstract class OutgoingMessages {
  /** The call. */
  protected abstract readonly record: ToolCall
  #messages: Message[] | undefined
  #trail: CallTrail | undefined
  #taken = 0

  /** Messages about the call's hooks and changes of its input. */
  get trail(): CallTrail {
    this.#trail ??= new CallTrail()
    return this.#trail
  }

  set(messages: Message[]): void {
    this.#messages = this.#withTrail(messages)
    this.record.unread = this.#messages.length
  }

  /** Drops the messages of the body; the message of the call's ending takes their place. */
  drop(): void {
    this.#messages = undefined
    this.record.unread = 1 + (this.#trail?.length ?? 0)
  }

  /** Only this message goes out. */
  replace(message: Message): void {
    this.#messages = [message]
    this.record.unread = 1
  }

  /** All messages. A call without a result gets the message of its ending. */
  prepare(): readonly Message[] {
    this.#messages ??= this.#withTrail([endingMessage(this.record)])
    return this.#messages
  }

  /** The next message for a reader. The chart has counted it already. */
  take(): Message {
    return this.prepare()[this.#taken++] as Message
  }

  /** The result, if its messages are there and no reader has taken one. */
  get unreadResult(): ToolResultMessage | undefined {
    return this.#taken === 0 ? (this.#messages?.[0] as ToolResultMessage | undefined) : undefined
  }

  /** The messages after the result. */
  get besides(): readonly Message[] {
    return this.#messages === undefined || this.#messages.length < 2 ? none : this.#messages.slice(1)
  }

  replaceResult(result: ToolResultMessage): void {
    if (this.#messages !== undefined) this.#messages = this.#messages.with(0, result)
  }

  /** Every message was read: releases them. */
  clear(): void {
    this.#messages = []
    this.#taken = 0
    this.#trail = undefined
  }

  #withTrail(messages: Message[]): Message[] {
    if (this.#trail === undefined) return messages
    return [...messages, ...this.#trail.messages(this.record.id, this.record.executor.settings.idsAndTime)]
  }
}
