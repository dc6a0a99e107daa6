import { describe, expect, it } from 'vitest'
import type { ContentBlock } from '../../src/index.ts'
import { anthropicModel } from '../../src/models/anthropic/index.ts'
import { collect } from './support/read-reply.ts'
import { type Asked, ask, readSchema } from './support/requests.ts'

async function sent(request: Asked, options: object = {}): Promise<Record<string, unknown>> {
  let params: Record<string, unknown> | undefined
  const client = {
    messages: {
      create: async (given: Record<string, unknown>) => {
        params = given
        return []
      },
    },
  }
  await collect(await anthropicModel(client, { model: 'm', max_tokens: 9, ...options })(ask(request)))
  return params as Record<string, unknown>
}

const go = { role: 'user' as const, content: 'Go.' }
const result = (tool_use_id: string) => ({ type: 'tool_result', tool_use_id, content: 'ok' })

describe('the request to the Messages API', () => {
  it('contains the messages, the tools and all options', async () => {
    const search = { type: 'web_search_20250305', name: 'web_search' }
    const options = { tools: [search], thinking: { type: 'adaptive' } }
    expect(await sent({ tools: [readSchema], system: 'Be brief.' }, options)).toEqual({
      model: 'm',
      max_tokens: 9,
      thinking: { type: 'adaptive' },
      system: 'Be brief.',
      tools: [search, readSchema],
      messages: [{ role: 'user', content: 'Go.' }],
      stream: true,
    })
  })

  it('has no tools and no system prompt if there are none', async () => {
    expect(Object.keys(await sent({})).sort()).toEqual(['max_tokens', 'messages', 'model', 'stream'])
    expect(Object.keys(await sent({ system: '' }))).not.toContain('system')
    expect(await sent({}, { system: 'Mine.' })).toMatchObject({ system: 'Mine.' })
  })

  it('returns its own blocks unchanged', async () => {
    const content = [
      { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } },
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'eHh4' },
      { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
      { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
      { type: 'tool_use', id: 'toolu_1', name: 'Read', input: {}, caller: { type: 'direct' } },
    ]
    const result = [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'No.', is_error: true }]
    const messages = [go, { role: 'assistant' as const, content }, { role: 'user' as const, content: result }]
    expect((await sent({ messages }, { fallbacks: 'default' })).messages).toEqual(messages)
    expect((await sent({ messages })).messages).toEqual([
      go,
      { role: 'assistant', content: content.slice(1) },
      { role: 'user', content: result },
    ])
  })

  it('leaves out blocks of other services', async () => {
    const content = [
      { type: 'thinking', thinking: 'a', signature: '{"openai":{"id":"rs_1"}}' },
      { type: 'thinking', thinking: 'cut off', signature: '' },
      { type: 'openai_item', item: { type: 'web_search_call' } },
      { type: 'ai_sdk_part', part: { type: 'custom' } },
      { type: 'text', text: '' },
      { type: 'text', text: 'Well.', signature: '{"openai":{"phase":"commentary"}}' },
      { type: 'tool_use', id: 'a', name: 'Read', input: {}, signature: '{"ai_sdk":{}}' },
    ]
    const messages = [
      go,
      { role: 'assistant' as const, content },
      { role: 'assistant' as const, content: content.slice(0, 4) },
      { role: 'user' as const, content: [result('a')] },
    ]
    expect((await sent({ messages })).messages).toEqual([
      go,
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Well.' },
          { type: 'tool_use', id: 'a', name: 'Read', input: {} },
        ],
      },
      { role: 'user', content: [result('a')] },
    ])
  })

  it('has only valid ids; calls and results stay paired, and calls distinct', async () => {
    const call = (id: string) => ({ type: 'tool_use', id, name: 'Read', input: {} })
    const { messages } = await sent({
      messages: [
        go,
        { role: 'assistant', content: [call('functions.Read:0'), call('functions.Read.0'), call('ok-1')] },
        { role: 'user', content: [result('functions.Read:0'), result('functions.Read.0'), result('ok-1')] },
        { role: 'assistant', content: [call('functions_Read_0')] },
        { role: 'user', content: [result('functions_Read_0')] },
      ],
    })
    const ids = (messages as { content: { id?: string; tool_use_id?: string }[] }[])
      .slice(1)
      .map(({ content }) => content.map(({ id, tool_use_id }) => id ?? tool_use_id))
    expect(ids).toEqual([
      ['functions_Read_0', 'functions_Read_0_2', 'ok-1'],
      ['functions_Read_0', 'functions_Read_0_2', 'ok-1'],
      ['functions_Read_0_4'],
      ['functions_Read_0_4'],
    ])
  })

  it('returns unsigned thinking only to a service that signs none', async () => {
    const unsigned = { type: 'thinking', thinking: 'Hm.', signature: '{"anthropic":{"signature":""}}' }
    const signed = { type: 'thinking', thinking: 'Well.', signature: 'c2ln' }
    const text = { type: 'text', text: 'So.' }
    const said = async (...blocks: object[]) => {
      const content = blocks as ContentBlock[]
      const { messages } = await sent({ messages: [go, { role: 'assistant', content }, go] })
      return (messages as { content: unknown }[])[1]?.content
    }
    expect(await said(unsigned, text)).toEqual([{ type: 'thinking', thinking: 'Hm.', signature: '' }, text])
    expect(await said(unsigned, signed, text)).toEqual([signed, text])
    expect(await said({ ...unsigned, signature: '{"openai_chat":{}}' }, text)).toEqual([text])
    // cut off, and rejected as the last block
    expect(await said(text, unsigned)).toEqual([text])
  })

  it('names the container in which code waits, unless the host names one', async () => {
    const container = { id: 'container_1', expires_at: 'later' }
    expect(await sent({ container })).toMatchObject({ container: 'container_1' })
    expect(await sent({ container }, { container: 'mine' })).toMatchObject({ container: 'mine' })
    const skills = [{ type: 'anthropic', skill_id: 'xlsx' }]
    expect(await sent({ container }, { container: { skills } })).toMatchObject({
      container: { skills, id: 'container_1' },
    })
  })
})
