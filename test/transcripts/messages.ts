import type { ApiMessage, BlockLike, ContentBlock, Message } from '../../src/index.ts'
import { createAssistantMessage, createUserMessage } from '../../src/messages/create-messages.ts'

export const user = (...content: (BlockLike | string)[]): ApiMessage => ({
  role: 'user',
  content: content.map(block),
})

export const assistant = (...content: (BlockLike | string)[]): ApiMessage => ({
  role: 'assistant',
  content: content.map(block),
})

/** Also invalid ones. */
const block = (content: BlockLike | string): ContentBlock =>
  typeof content === 'string' ? { type: 'text', text: content } : (content as ContentBlock)

export const call = (id: string, input: unknown = {}): ContentBlock => ({ type: 'tool_use', id, name: 'Bash', input })

export const result = (id: string, content: unknown = `${id} said`): ContentBlock => ({
  type: 'tool_result',
  tool_use_id: id,
  content: content as string,
})

/** The same transcript in our own form. Values that are not messages stay unchanged. */
export const asOwn = (messages: readonly unknown[]): Message[] =>
  messages.map((message, index) => {
    const { role, content } = (message ?? {}) as Partial<ApiMessage>
    const idsAndTime = { uuid: () => `u${index}`, now: () => index }
    if (role === 'user') return createUserMessage(content as string, idsAndTime)
    if (role === 'assistant') return createAssistantMessage(content as ContentBlock[], {}, idsAndTime)
    return message as Message
  })
