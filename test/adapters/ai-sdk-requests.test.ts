import { describe, expect, it } from 'vitest'
import { isSignalboxError } from '../../src/base/signalbox-error.ts'
import { aiSdkModel } from '../../src/models/ai-sdk/index.ts'
import { promptFlaws } from '../support/services/prompt-flaws.ts'
import { collect } from './support/read-reply.ts'
import { type Asked, ask, readSchema } from './support/requests.ts'

type Sent = { prompt: { role: string; content: unknown }[]; [key: string]: unknown }

async function sent(request: Asked, specificationVersion = 'v4', options: Record<string, unknown> = {}): Promise<Sent> {
  let seen: Sent | undefined
  const languageModel = {
    specificationVersion,
    doStream: async (given: Record<string, unknown>) => {
      seen = given as Sent
      return { stream: new ReadableStream<unknown>({ start: (controller) => controller.close() }) }
    },
  }
  await collect(await aiSdkModel(languageModel, options)(ask(request)))
  expect(promptFlaws(seen as Sent, specificationVersion)).toEqual([])
  return seen as Sent
}

const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
const link = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }
const pdf = {
  type: 'document',
  title: 'a.pdf',
  source: { type: 'base64', media_type: 'application/pdf', data: 'BBBB' },
}

describe('the request to a language model of the AI SDK', () => {
  it('contains the messages, the tools and all options', async () => {
    const search = { type: 'provider', id: 'openai.web_search', name: 'web_search', args: {} }
    const options = { temperature: 0, tools: [search] }
    expect(await sent({ tools: [readSchema], system: 'Be brief.' }, 'v4', options)).toEqual({
      includeRawChunks: true,
      temperature: 0,
      prompt: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'Go.' }] },
      ],
      tools: [
        search,
        { type: 'function', name: 'Read', description: 'Reads a file.', inputSchema: readSchema.input_schema },
      ],
      abortSignal: expect.any(AbortSignal),
    })
  })

  it('has results with the name of their call, before user text', async () => {
    const { prompt } = await sent({
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'a', name: 'Read', input: { p: 1 } },
            { type: 'tool_use', id: 'b', name: 'List', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: 'gone', is_error: true },
            { type: 'tool_result', tool_use_id: 'b', content: [{ type: 'text', text: 'ok' }] },
            { type: 'text', text: 'Go on.' },
          ],
        },
      ],
    })
    expect(prompt).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'tool-call', toolCallId: 'a', toolName: 'Read', input: { p: 1 } },
          { type: 'tool-call', toolCallId: 'b', toolName: 'List', input: {} },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'a', toolName: 'Read', output: { type: 'error-text', value: 'gone' } },
          { type: 'tool-result', toolCallId: 'b', toolName: 'List', output: { type: 'text', value: 'ok' } },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'Go on.' }] },
    ])
  })

  it('returns the provider’s metadata and its own parts', async () => {
    const part = { type: 'tool-call', toolCallId: 's', toolName: 'web_search', input: {}, providerExecuted: true }
    const signature = (data: object) => JSON.stringify({ ai_sdk: data })
    const { prompt } = await sent({
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: signature({ google: { thoughtSignature: 's' } }) },
            { type: 'text', text: 'Well.', signature: signature({ openai: { itemId: 'msg_1' } }) },
            { type: 'ai_sdk_part', part: { ...part, providerOptions: undefined } },
            { type: 'tool_use', id: 'a', name: 'Read', input: {}, signature: signature({ google: { x: 1 } }) },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok' }] },
      ],
    })
    expect(prompt[1]?.content).toMatchObject([{ toolCallId: 'a', providerOptions: { google: { x: 1 } } }])
    expect(prompt[0]?.content).toEqual([
      { type: 'reasoning', text: 'Hm.', providerOptions: { google: { thoughtSignature: 's' } } },
      { type: 'text', text: 'Well.', providerOptions: { openai: { itemId: 'msg_1' } } },
      part,
      { type: 'tool-call', toolCallId: 'a', toolName: 'Read', input: {}, providerOptions: { google: { x: 1 } } },
    ])
  })

  it('contains signed thinking of the Messages API, and nothing else of other services', async () => {
    const { prompt } = await sent({
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
            { type: 'redacted_thinking', data: 'eHh4' },
            { type: 'thinking', thinking: 'cut off' },
            { type: 'thinking', thinking: 'other', signature: '{"openai":{}}' },
            { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
            { type: 'openai_item', item: {} },
          ],
        },
        { role: 'assistant', content: [{ type: 'fallback' }] },
      ],
    })
    expect(prompt).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.', providerOptions: { anthropic: { signature: 'c2ln' } } },
          { type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData: 'eHh4' } } },
        ],
      },
    ])
  })

  it('has its own reasoning without metadata, valid names, and text input for custom tools', async () => {
    const custom = { type: 'provider', id: 'openai.custom', name: 'sql', args: {} }
    const { prompt, tools } = await sent(
      {
        tools: [readSchema, { name: 'sql', input_schema: { type: 'object' } }],
        messages: [
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'Hm.', signature: '{"ai_sdk":{}}' },
              { type: 'tool_use', id: 'a', name: 'functions.Read', input: {} },
              { type: 'tool_use', id: 'b', name: 'sql', input: { input: 'SELECT 1' } },
            ],
          },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'a', content: 'No such tool' },
              { type: 'tool_result', tool_use_id: 'b', content: '1' },
            ],
          },
        ],
      },
      'v4',
      { tools: [custom] },
    )
    expect(prompt[0]?.content).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'tool-call', toolCallId: 'a', toolName: 'functions_Read', input: {} },
      { type: 'tool-call', toolCallId: 'b', toolName: 'sql', input: 'SELECT 1' },
    ])
    expect((tools as { name: string }[]).map(({ name }) => name)).toEqual(['sql', 'Read'])
  })

  it('contains the marks of the prompt cache, on the system prompt, on messages and on results', async () => {
    const cache_control = { type: 'ephemeral' }
    const providerOptions = { anthropic: { cacheControl: cache_control } }
    const { prompt } = await sent({
      system: [
        { type: 'text', text: 'One.' },
        { type: 'text', text: 'Two.', cache_control },
        { type: 'text', text: 'Three.' },
      ],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Go.', cache_control }, png] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'Read', input: {}, cache_control }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok', cache_control }] },
      ],
    })
    expect(prompt.slice(0, 2)).toEqual([
      { role: 'system', content: 'One.\n\nTwo.', providerOptions },
      { role: 'system', content: 'Three.' },
    ])
    const marked = prompt.slice(2).map(({ content }) => (content as Record<string, unknown>[])[0]?.providerOptions)
    expect(marked).toEqual([providerOptions, providerOptions, providerOptions])
  })

  const url = new URL('https://example.com/a.png')
  it.each([
    ['v4', { type: 'data', data: 'AAAA' }, { type: 'url', url }, { type: 'data', data: 'BBBB' }],
    ['v3', 'AAAA', url, 'BBBB'],
    ['v2', 'AAAA', url, 'BBBB'],
  ])('has files in the form of its version: %s', async (version, picture, linked, document) => {
    const { prompt } = await sent({ messages: [{ role: 'user', content: [png, link, pdf] }] }, version)
    expect(prompt[0]?.content).toEqual([
      { type: 'file', mediaType: 'image/png', data: picture },
      { type: 'file', mediaType: 'image/png', data: linked },
      { type: 'file', mediaType: 'application/pdf', filename: 'a.pdf', data: document },
    ])
  })

  it.each([
    [
      'v4',
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } },
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url } },
    ],
    ['v3', { type: 'image-data', mediaType: 'image/png', data: 'AAAA' }, { type: 'image-url', url: url.href }],
    ['v2', { type: 'media', mediaType: 'image/png', data: 'AAAA' }, { type: 'text', text: url.href }],
  ])('has files in results in the form of its version: %s', async (version, picture, linked) => {
    const content = [{ type: 'text', text: 'See' }, png, link]
    const messages = [
      { role: 'assistant' as const, content: [{ type: 'tool_use', id: 'a', name: 'Read', input: {} }] },
      { role: 'user' as const, content: [{ type: 'tool_result', tool_use_id: 'a', content, is_error: true }] },
    ]
    const { prompt } = await sent({ messages }, version)
    expect(prompt[1]?.content).toMatchObject([
      {
        output: {
          type: 'content',
          value: [{ type: 'text', text: 'This is an error.' }, { type: 'text', text: 'See' }, picture, linked],
        },
      },
    ])
  })

  it('rejects an unsupported language model when the adapter is created, not at the first request', () => {
    const old = { specificationVersion: 'v1', doStream: async () => ({ stream: new ReadableStream<unknown>() }) }
    try {
      aiSdkModel(old)
      expect.unreachable()
    } catch (error) {
      expect(isSignalboxError(error) && error.message).toBe(
        'aiSdkModel: expected a language model with specificationVersion v2, v3 or v4, received specificationVersion "v1".',
      )
    }
    expect(() => aiSdkModel('openai/gpt-5.5' as never)).toThrow(
      `received the string "openai/gpt-5.5". Pass a model of a provider, such as openai('…')`,
    )
  })
})
