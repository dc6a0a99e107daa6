import type { AssistantMessage, Message } from '../messages/message.ts'

/** The parts of a reply in the order in which they began, because services reject a reply in another order. */
export class ReplyOrder {
  readonly assistants: AssistantMessage[] = []
  readonly #orders = new Map<AssistantMessage, number>()
  #isReordered = false

  place(message: AssistantMessage, order: number): void {
    this.#orders.set(message, order)
    const at = this.assistants.findLastIndex((other) => (this.#orders.get(other) ?? -1) < order)
    if (at + 1 < this.assistants.length) this.#isReordered = true
    this.assistants.splice(at + 1, 0, message)
  }

  /** Puts results into the order of their calls, which is that of the executor unless blocks of the reply overlapped. */
  arrange(messages: Message[]): void {
    if (!this.#isReordered) return
    const places = new Map<unknown, number>()
    for (const { message } of this.assistants) for (const { id } of message.content) places.set(id, places.size)
    const placeOf = (message: Message): number => places.get(callOf(message)) ?? Number.POSITIVE_INFINITY
    const isResult = (message: Message): boolean => callOf(message) !== undefined
    const results = messages.filter(isResult).sort((one, other) => placeOf(one) - placeOf(other))
    messages.splice(0, messages.length, ...results, ...messages.filter((each) => !isResult(each)))
  }
}

/** The call that a message is the result of. */
function callOf(message: Message): unknown {
  if (message.type !== 'user' || typeof message.message.content === 'string') return undefined
  return message.message.content.find(({ type }) => type === 'tool_result')?.tool_use_id
}
