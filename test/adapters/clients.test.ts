import { describe, expect, it } from 'vitest'
import { anthropicModel } from '../../src/models/anthropic/index.ts'
import { openaiChatModel, openaiResponsesModel } from '../../src/models/openai/index.ts'

const makers = [
  ['anthropicModel', 'messages.create()', (client: unknown) => anthropicModel(client as never, {})],
  ['openaiChatModel', 'chat.completions.create()', (client: unknown) => openaiChatModel(client as never, {})],
  ['openaiResponsesModel', 'responses.create()', (client: unknown) => openaiResponsesModel(client as never, {})],
] as const

describe('a value that is not a client', () => {
  const hostile = Object.defineProperty({}, 'messages', {
    get: () => {
      throw new Error('no')
    },
  })

  it.each(makers)('is rejected by %s, with the expected method: %s', (name, method, make) => {
    for (const client of [undefined, null, {}, 'sk-ant-…', { messages: {} }, hostile]) {
      expect(() => make(client)).toThrow(`${name}: expected a client with ${method}, received`)
    }
  })
})
