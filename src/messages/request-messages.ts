import { describeValue } from '../base/describe-value.ts'
import { wellFormed } from '../base/well-formed.ts'
import type { AttachmentMessage, ContentBlock, Message, TextBlock, ToolResultBlock, UserMessage } from './message.ts'
import { joinTurn, SendableTurns } from './sendable-turns.ts'
import type { ApiMessage } from './to-api-messages.ts'

/** Like `toApiMessages`, but with the original ids: the service that created them may need them. */
export function requestMessages(messages: readonly Message[]): ApiMessage[] {
  return new RequestMessages().of(messages)
}

/**
 * Builds the requests of a growing conversation. As long as the conversation begins with the messages of the last request,
 * only new messages are converted. Otherwise all are converted again.
 */
export class RequestMessages {
  #taken: Message[] = []
  #discarded = new Set<string>()
  #turns = new SendableTurns()
  /** Turns that later messages cannot change, in their final form. */
  #sent: ApiMessage[] = []
  /** Turns that later messages may still change. */
  #open: ApiMessage[] = []
  /** The blocks after the last reply. */
  #answer: ContentBlock[] = []
  #replyId: string | undefined
  #container: unknown

  /** The container in which the service ran code for the latest reply that names one. */
  get container(): { readonly id: string } | undefined {
    const container = this.#container as { id?: unknown } | null | undefined
    return typeof container?.id === 'string' ? (container as { id: string }) : undefined
  }

  of(messages: readonly Message[]): ApiMessage[] {
    if (!this.#isContinuedBy(messages)) this.#forget()
    try {
      if (this.#noteDiscarded(messages)) this.#forget(this.#discarded)
      for (let at = this.#taken.length; at < messages.length; at++) this.#take(messages[at] as Message)
    } catch (error) {
      this.#forget()
      throw error
    }
    const open = this.#answer.length === 0 ? this.#open : [...this.#open, this.#answerTurn()]
    // each request has its own lists, so that changing one does not change another
    const request = this.#sent.map(ownCopy)
    for (const turn of this.#turns.preview(open)) joinTurn(request, ownCopy(wellFormed(turn)))
    return request
  }

  /** Compares by identity; comparing the contents would cost as much as converting them. */
  #isContinuedBy(messages: readonly Message[]): boolean {
    return this.#taken.length <= messages.length && this.#taken.every((message, at) => message === messages[at])
  }

  #noteDiscarded(messages: readonly Message[]): boolean {
    const before = this.#discarded.size
    for (let at = this.#taken.length; at < messages.length; at++)
      for (const uuid of discardedBy(messages[at] as Message)) this.#discarded.add(uuid)
    return this.#discarded.size > before
  }

  #take(message: Message): void {
    this.#taken.push(message)
    if (message.type === 'assistant' && message.message.container !== undefined) {
      this.#container = message.message.container
    }
    if (this.#discarded.has(message.uuid)) return
    if (message.type === 'assistant') {
      const { id, content } = message.message
      // results may arrive while the reply is still streaming; the parts still belong to one reply
      if (id !== this.#replyId || !id) this.#closeAnswer()
      this.#replyId = id
      this.#addReply(content)
    } else if (message.type === 'user') for (const block of blocksOf(message)) this.#answer.push(block)
    else if (message.type === 'attachment') this.#answer.push(asText(message))
  }

  #answerTurn(): ApiMessage {
    return { role: 'user', content: resultsFirst(this.#answer) }
  }

  #closeAnswer(): void {
    if (this.#answer.length > 0) this.#open.push(this.#answerTurn())
    this.#answer = []
  }

  /** One reply of a model may arrive as several messages; the API requires alternating roles. */
  #addReply(content: ContentBlock[]): void {
    const last = this.#open.at(-1)
    if (last?.role === 'assistant' && Array.isArray(last.content)) last.content = last.content.concat(content)
    else {
      this.#settle()
      this.#open.push({ role: 'assistant', content: [...content] })
    }
  }

  #settle(): void {
    const turns = this.#turns.settle(this.#open)
    if (turns === undefined) return
    for (const turn of turns) joinTurn(this.#sent, wellFormed(turn))
    this.#open = []
  }

  #forget(discarded = new Set<string>()): void {
    this.#taken = []
    this.#discarded = discarded
    this.#turns = new SendableTurns()
    this.#sent = []
    this.#open = []
    this.#answer = []
    this.#replyId = undefined
    this.#container = undefined
  }
}

const ownCopy = ({ role, content }: ApiMessage): ApiMessage => ({
  role,
  content: typeof content === 'string' ? content : [...content],
})

const maxAttachmentChars = 100_000

/** Subtypes of system messages that list discarded messages. */
const discarding = new Set(['model_retry', 'model_refusal'])

function discardedBy(message: Message): readonly string[] {
  if (message.type !== 'system' || !discarding.has(message.subtype) || !Array.isArray(message.discarded)) return []
  return message.discarded
}

const isResult = (block: ContentBlock): boolean => block.type === 'tool_result'

const resultsFirst = (blocks: ContentBlock[]): ContentBlock[] => [
  ...blocks.filter(isResult),
  ...blocks.filter((block) => !isResult(block)),
]

function blocksOf({ message: { content } }: UserMessage): readonly (ContentBlock | ToolResultBlock)[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

function asText({ attachment }: AttachmentMessage): TextBlock {
  const { type, ...rest } = attachment
  const content = typeof rest.content === 'string' ? rest.content : describeValue(rest, maxAttachmentChars)
  return { type: 'text', text: `<${type}>\n${content}\n</${type}>` }
}
