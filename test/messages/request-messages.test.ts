import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ContentBlock, type Message, type ModelEvent, query } from '../../src/index.ts'
import {
  createAssistantMessage,
  createAttachmentMessage,
  createSystemMessage,
  createToolResultMessage,
  createUserMessage,
} from '../../src/messages/create-messages.ts'
import { RequestMessages, requestMessages } from '../../src/messages/request-messages.ts'

const id = fc.constantFrom('a', 'b', 'c')
const block: fc.Arbitrary<ContentBlock> = fc.oneof(
  fc.constantFrom('hello', ' ', 'half \ud83d').map((text) => ({ type: 'text' as const, text })),
  fc.constant({ type: 'thinking', thinking: 'hm', signature: 's' } as ContentBlock),
  fc.constant({ type: 'fallback' } as unknown as ContentBlock),
  id.map((id) => ({ type: 'tool_use', id, name: 'functions.Read', input: {} }) as ContentBlock),
  id.map((by) => ({ type: 'tool_use', id: 'd', name: 'Read', input: {}, caller: { tool_id: by } }) as ContentBlock),
  id.map((id) => ({ type: 'server_tool_use', id, name: 'web_search', input: {} }) as ContentBlock),
  id.map((tool_use_id) => ({ type: 'web_search_tool_result', tool_use_id, content: [] }) as ContentBlock),
)
const results = fc.uniqueArray(id, { minLength: 1 }).map((ids) => ids.map((id) => resultOf(id)))
const resultOf = (tool_use_id: string) => ({ type: 'tool_result' as const, tool_use_id, content: 'done' })
const message: fc.Arbitrary<Message> = fc.oneof(
  fc
    .tuple(fc.array(block, { minLength: 1, maxLength: 4 }), fc.constantFrom('m1', 'm2', 'm3', ''))
    .map(([content, id]) => createAssistantMessage(content, { id })),
  results.map((content) => createUserMessage(content)),
  fc.constantFrom('and then?', ' ').map((text) => createUserMessage(text)),
  fc.constant(0).map(() => createAttachmentMessage({ type: 'note', content: 'note' })),
)

/** Some of the messages are discarded by a later one. */
const conversation = fc
  .tuple(fc.array(message, { maxLength: 20 }), fc.array(fc.nat(19), { maxLength: 2 }))
  .map(([messages, places]): Message[] => {
    const all = [...messages]
    for (const at of places) {
      const discarded = messages[at]?.uuid
      if (discarded !== undefined) all.push(createSystemMessage({ subtype: 'model_retry', discarded: [discarded] }))
    }
    return all
  })

describe('the requests of a conversation that grows', () => {
  it('L4 L8 each is the same as if the conversation were converted as a whole', () => {
    fc.assert(
      fc.property(conversation, fc.array(fc.nat(20)), (messages, cuts) => {
        const growing = new RequestMessages()
        for (const cut of [...cuts.toSorted((a, b) => a - b), messages.length]) {
          const soFar = messages.slice(0, cut)
          expect(growing.of(soFar)).toEqual(requestMessages(soFar))
        }
      }),
    )
  })

  it('L4 a message that was replaced or removed is not sent', () => {
    fc.assert(
      fc.property(conversation, conversation, fc.nat(20), (first, second, shared) => {
        const growing = new RequestMessages()
        growing.of(first)
        const changed = [...first.slice(0, shared), ...second]
        expect(growing.of(changed)).toEqual(requestMessages(changed))
      }),
    )
  })

  it('L4 changing a request does not change later ones', () => {
    const messages = [
      createUserMessage('go'),
      createAssistantMessage([{ type: 'text', text: 'one' }], { id: 'm1' }),
      createUserMessage('on'),
      createAssistantMessage([{ type: 'text', text: 'two' }], { id: 'm2' }),
    ]
    const growing = new RequestMessages()
    const before = structuredClone(growing.of(messages))
    for (const { content } of growing.of(messages)) (content as ContentBlock[]).push({ type: 'text', text: 'mine' })
    growing.of(messages).pop()
    expect(growing.of(messages)).toEqual(before)
  })

  it('L4 an unreadable message fails only its own request', () => {
    const broken = { type: 'assistant', uuid: 'u' } as unknown as Message
    const growing = new RequestMessages()
    expect(() => growing.of([createUserMessage('go'), broken])).toThrow(TypeError)
    expect(growing.of([createUserMessage('go')])).toHaveLength(1)
  })

  it('L4 Q9 a query reads the messages of earlier turns once, however many turns follow', async () => {
    let looks = 0
    // counts reads of the message, not of its blocks, which are in every request
    const counted = (message: Message): Message =>
      new Proxy(message, {
        get: (target, key, self) => {
          looks++
          return Reflect.get(target, key, self)
        },
      })
    const messages: Message[] = [createUserMessage('go')]
    for (let n = 0; n < 10; n++) {
      const call: ContentBlock = { type: 'tool_use', id: `old_${n}`, name: 'Read', input: {} }
      const said = createAssistantMessage([call], { id: `old_${n}` })
      messages.push(said, createToolResultMessage(resultOf(`old_${n}`), { sourceToolAssistantUUID: said.uuid }))
    }
    messages.push(createAssistantMessage([{ type: 'text', text: 'done' }], { id: 'old' }), createUserMessage('more'))
    const looksAt: number[] = []
    async function* model(): AsyncGenerator<ModelEvent> {
      const turn = looksAt.push(looks)
      const isLast = turn === 20
      yield { type: 'message_start', message: { id: `m_${turn}` } }
      const content_block: ContentBlock = isLast
        ? { type: 'text', text: 'done' }
        : { type: 'tool_use', id: `t_${turn}`, name: 'Read', input: {} }
      yield { type: 'content_block_start', index: 0, content_block }
      yield { type: 'content_block_stop', index: 0 }
      yield { type: 'message_delta', delta: { stop_reason: isLast ? 'end_turn' : 'tool_use' } }
    }
    const run = query({ messages: messages.map(counted), tools: [], model })
    for await (const _ of run);
    expect(looksAt).toHaveLength(20)
    expect(looksAt[0]).toBeGreaterThan(0)
    // the second request fixes the last turn of the first
    expect(new Set(looksAt.slice(1)).size).toBe(1)
  })
})
