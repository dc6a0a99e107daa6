import type { AssistantMessage, ContentBlock, Message } from '../messages/message.ts'
import { isServerCall, serverCallId, serverResultId } from '../messages/server-tools.ts'
import { markCut } from '../models/cut-reply.ts'

interface Turn {
  readonly assistants: readonly AssistantMessage[]
  readonly results: readonly Message[]
  /** The container in which the service ran code for the reply. */
  readonly container?: unknown
  /** The service may continue with its own calls, if only results are sent. */
  readonly isPaused: boolean
  /** The service itself asked to continue the reply. */
  readonly isPauseTurn: boolean
  /** The reply has a stop reason. Otherwise the service may not have stored it. */
  readonly isEnded: boolean
}

/** The conversation for the model: each reply is followed by all its results, before anything else. */
export class Transcript {
  readonly messages: Message[]
  readonly #calls = new Set<string>()
  readonly #replies = new Set<string>()
  /** Calls that the service runs itself and that have no result yet. */
  readonly #open = new Set<unknown>()
  /** Messages that wait until the service has its own results. */
  readonly #waiting: Message[] = []

  constructor(messages: readonly Message[]) {
    this.messages = [...messages]
    for (const message of messages) if (message.type === 'assistant') this.#note(message)
    this.#open.clear()
  }

  hasCall(id: string): boolean {
    return this.#calls.has(id)
  }

  hasReply(id: string): boolean {
    return this.#replies.has(id)
  }

  /** The service continues its own call; until then only results may be sent. */
  get awaitsService(): boolean {
    return this.#open.size > 0
  }

  push(message: Message): void {
    this.messages.push(message)
  }

  add({ assistants, results, container, isPaused, isPauseTurn, isEnded }: Turn): void {
    // the API rejects a reply of only white space, and every later request with it
    if (assistants.length > 0 && assistants.every(isBlank)) return
    const said = isEnded ? assistants : assistants.map(cut)
    this.messages.push(...withContainer(said, container), ...results.filter(isResult))
    this.#waiting.push(...results.filter((message) => !isResult(message)))
    for (const message of assistants) this.#note(message, isPauseTurn)
    if (!isPaused || !this.awaitsService) this.letGo()
  }

  /** The last turn as it was added, where the service may still go on with its own calls. */
  reopen({ assistants, isPaused, isPauseTurn }: Pick<Turn, 'assistants' | 'isPaused' | 'isPauseTurn'>): void {
    if (isPaused) for (const message of assistants) this.#note(message, isPauseTurn)
  }

  /** Stops waiting for the service: adds the messages that had to wait. */
  letGo(): void {
    this.#open.clear()
    this.messages.push(...this.#waiting.splice(0))
  }

  #note({ message }: AssistantMessage, isPauseTurn = false): void {
    this.#replies.add(message.id)
    for (const block of message.content) {
      const { type, id } = block
      if (type === 'tool_use' && typeof id === 'string') this.#calls.add(id)
      // through the AI SDK some calls of a provider never get a result, unless the provider asks to continue
      else if (isServerCall(block) || (isPauseTurn && serverCallId(block) !== undefined)) {
        this.#open.add(serverCallId(block))
      } else this.#open.delete(serverResultId(block))
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

function cut(assistant: AssistantMessage): AssistantMessage {
  const { content } = assistant.message
  const marked = content.map(markCut)
  if (marked.every((block, at) => block === content[at])) return assistant
  return { ...assistant, message: { ...assistant.message, content: marked } }
}

/** Stored with the last part of the reply, so that a stored conversation can be continued in the same container. */
function withContainer(assistants: readonly AssistantMessage[], container: unknown): readonly AssistantMessage[] {
  const last = assistants.at(-1)
  if (last === undefined || typeof container !== 'object' || container === null) return assistants
  return [...assistants.slice(0, -1), { ...last, message: { ...last.message, container } }]
}
