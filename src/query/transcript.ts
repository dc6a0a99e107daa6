import type { ContentBlock, Message } from '../messages/message.ts'

interface Turn {
  readonly assistants: readonly Message[]
  readonly results: readonly Message[]
}

/** The conversation as it goes to the model: after each reply its results, all of them, before anything else. */
export class Transcript {
  readonly messages: Message[]
  readonly #calls = new Set<string>()
  readonly #replies = new Set<string>()

  constructor(messages: readonly Message[]) {
    this.messages = [...messages]
    for (const message of messages) this.#noteCalls(message)
  }

  hasCall(id: string): boolean {
    return this.#calls.has(id)
  }

  hasReply(id: string): boolean {
    return this.#replies.has(id)
  }

  push(message: Message): void {
    this.messages.push(message)
  }

  add({ assistants, results }: Turn): void {
    // the API refuses a reply of nothing but white space, and goes on refusing it
    if (assistants.every(isBlank)) return
    this.messages.push(...assistants, ...results.filter(isResult), ...results.filter((message) => !isResult(message)))
    for (const message of assistants) this.#noteCalls(message)
  }

  #noteCalls(message: Message): void {
    if (message.type !== 'assistant') return
    this.#replies.add(message.message.id)
    for (const { type, id } of message.message.content) {
      if (type === 'tool_use' && typeof id === 'string') this.#calls.add(id)
    }
  }
}

const isBlank = (message: Message): boolean =>
  message.type === 'assistant' &&
  message.message.content.every(({ type, text }) => type === 'text' && String(text).trim() === '')

const isResult = (message: Message): boolean =>
  message.type === 'user' &&
  typeof message.message.content !== 'string' &&
  message.message.content.some(({ type }: ContentBlock) => type === 'tool_result')
