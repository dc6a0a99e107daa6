import { describe, expect, it } from 'vitest'
import { anthropicModel } from '../../src/anthropic/index.ts'
import type { ModelRequest } from '../../src/model/model.ts'
import { collect } from './support/read-reply.ts'
import { ask, readSchema } from './support/requests.ts'

async function sent(request: Partial<ModelRequest>, options: object = {}): Promise<Record<string, unknown>> {
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

describe('what goes to the Messages API', () => {
  it('is the request, with everything that the options say', async () => {
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

  it('has no tools and no system prompt where there are none', async () => {
    expect(Object.keys(await sent({})).sort()).toEqual(['max_tokens', 'messages', 'model', 'stream'])
    expect(Object.keys(await sent({ system: '' }))).not.toContain('system')
    expect(await sent({}, { system: 'Mine.' })).toMatchObject({ system: 'Mine.' })
  })

  it('brings back the blocks of its own as they were', async () => {
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'eHh4' },
      { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } },
      { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
      { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
      { type: 'tool_use', id: 'toolu_1', name: 'Read', input: {}, caller: { type: 'direct' } },
    ]
    const result = [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'No.', is_error: true }]
    const messages = [
      { role: 'assistant' as const, content },
      { role: 'user' as const, content: result },
    ]
    expect((await sent({ messages })).messages).toEqual(messages)
  })

  it('leaves out what only another service understands', async () => {
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
      { role: 'assistant' as const, content },
      { role: 'assistant' as const, content: content.slice(0, 4) },
    ]
    expect((await sent({ messages })).messages).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Well.' },
          { type: 'tool_use', id: 'a', name: 'Read', input: {} },
        ],
      },
    ])
  })

  it('has no ids that the service would refuse; calls and results stay together, and calls apart', async () => {
    const call = (id: string) => ({ type: 'tool_use', id, name: 'Read', input: {} })
    const result = (tool_use_id: string) => ({ type: 'tool_result', tool_use_id, content: 'ok' })
    const { messages } = await sent({
      messages: [
        { role: 'assistant', content: [call('functions.Read:0'), call('functions.Read.0'), call('ok-1')] },
        { role: 'user', content: [result('functions.Read:0'), result('functions.Read.0'), result('ok-1')] },
        { role: 'assistant', content: [call('functions_Read_0')] },
        { role: 'user', content: [result('functions_Read_0')] },
      ],
    })
    const ids = (messages as { content: { id?: string; tool_use_id?: string }[] }[]).map(({ content }) =>
      content.map(({ id, tool_use_id }) => id ?? tool_use_id),
    )
    expect(ids).toEqual([
      ['functions_Read_0', 'functions_Read_0_2', 'ok-1'],
      ['functions_Read_0', 'functions_Read_0_2', 'ok-1'],
      ['functions_Read_0_4'],
      ['functions_Read_0_4'],
    ])
  })
})
