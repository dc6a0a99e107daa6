import type { ApiMessage, ContentBlock, Message } from '../../src/index.ts'
import { createAssistantMessage, createUserMessage } from '../../src/messages/create-messages.ts'

export const user = (...content: (ContentBlock | string)[]): ApiMessage => ({
  role: 'user',
  content: content.map(block),
})

export const assistant = (...content: (ContentBlock | string)[]): ApiMessage => ({
  role: 'assistant',
  content: content.map(block),
})

const block = (content: ContentBlock | string): ContentBlock =>
  typeof content === 'string' ? { type: 'text', text: content } : content

export const call = (id: string, input: unknown = {}): ContentBlock => ({ type: 'tool_use', id, name: 'Bash', input })

export const result = (id: string, content: unknown = `${id} said`): ContentBlock => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
})

/** The same transcript in messages of our own. What is not a message stays what it is. */
export const asOwn = (messages: readonly unknown[]): Message[] =>
  messages.map((message, index) => {
    const { role, content } = (message ?? {}) as Partial<ApiMessage>
    const stamps = { uuid: () => `u${index}`, now: () => index }
    if (role === 'user') return createUserMessage(content as string, stamps)
    if (role === 'assistant') return createAssistantMessage(content as ContentBlock[], {}, stamps)
    return message as Message
  })
