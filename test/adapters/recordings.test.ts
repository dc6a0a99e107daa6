import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { anthropicModel } from '../../src/models/anthropic/index.ts'
import { openaiResponsesModel } from '../../src/models/openai/index.ts'
import { checkTranscript } from '../../src/transcripts/index.ts'
import { byQuery, byStreamText, type Story } from './support/like-stream-text.ts'
import { frames, sends, sseServer } from './support/sse-server.ts'
import { talk } from './support/talk.ts'
import { lastMessage, lastResponse } from './support/wires.ts'

/** What services really sent, played into query() and beside it into streamText(). */
const own = fileURLToPath(new URL('./recordings', import.meta.url))
const folders = [own, ...(process.env.SIGNALBOX_RECORDINGS === undefined ? [] : [process.env.SIGNALBOX_RECORDINGS])]
const files = folders.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => /\.(jsonl|chunks\.txt)$/.test(name))
    .map((name) => [basename(name), join(folder, name)] as const),
)

type Fields = Record<string, unknown>
const eventsOf = (path: string): Fields[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

const itemsOf = (events: readonly Fields[]): Fields[] =>
  events.flatMap(({ type, content_block, item }) =>
    type === 'content_block_start'
      ? [content_block as Fields]
      : type === 'response.output_item.done'
        ? [item as Fields]
        : [],
  )
const namesOf = (items: readonly Fields[], type: string): string[] =>
  items.flatMap((item) => (item.type === type ? [String(item.name)] : []))

/** The tools that a stream calls, those in a wrapper too. */
const calledIn = (items: readonly Fields[]): string[] => {
  const wrapped = [...JSON.stringify(items).matchAll(/recipient_name\\*":\\*"functions\.(\w+)/g)].map(
    ([, name]) => `${name}`,
  )
  const plain = [...namesOf(items, 'tool_use'), ...namesOf(items, 'function_call')]
  return [...new Set([...plain.filter((name) => name !== 'parallel'), ...wrapped])]
}

const apiKey = 'none'
const openaiTools = createOpenAI({ apiKey }).tools

function storyOf(events: readonly Fields[]): Story {
  const items = itemsOf(events)
  const isMessages = events.some(({ type }) => type === 'message_start')
  const custom = namesOf(items, 'custom_tool_call').map((name) => [
    name,
    openaiTools.customTool({ description: 'Takes text.', execute: async () => `${name} ran` } as never),
  ])
  const searches = namesOf(items, 'server_tool_use').map((name) => [
    name,
    createAnthropic({ apiKey }).tools.webSearch_20250305({}),
  ])
  return {
    provider: (baseURL) =>
      isMessages
        ? createAnthropic({ baseURL, apiKey })('claude-opus-5-5')
        : createOpenAI({ baseURL, apiKey }).responses('gpt-5.5'),
    tools: calledIn(items),
    providerTools: Object.fromEntries([...custom, ...searches]),
    replies: [frames(events), isMessages ? lastMessage : lastResponse],
  }
}

describe('recorded streams', () => {
  it.each(files)('L1 L4 %s: query() and streamText() make the same requests', async (_, path) => {
    const story = storyOf(eventsOf(path))
    const expected = await byStreamText(story)
    const { requests, result } = await byQuery(story)
    expect(result).toMatchObject({ reason: 'completed' })
    expect(requests).toEqual(expected.requests)
  })

  it.each(files)('L8 %s: the client of the service, and then a next prompt', async (_, path) => {
    const events = eventsOf(path)
    const { tools = [], providerTools, replies } = storyOf(events)
    const isMessages = events.some(({ type }) => type === 'message_start')
    const last = replies[1] as string
    const server = await sseServer(sends(frames(events)), sends(last), sends(last.replaceAll('_last', '_next')))
    const client = { apiKey, baseURL: server.url, maxRetries: 0 }
    const custom = Object.keys(providerTools ?? {})
    const model = isMessages
      ? anthropicModel(new Anthropic(client), { model: 'm', max_tokens: 9 })
      : openaiResponsesModel(new OpenAI(client), {
          model: 'm',
          tools: custom.map((name) => ({ type: 'custom', name })),
        })
    const more = isMessages ? [...tools] : [...tools, ...custom]
    const { transcript, ran, result } = await talk(model, 'Go.', { more })
    expect(result).toMatchObject({ reason: 'completed' })
    expect(ran).toHaveLength(more.length)
    expect(checkTranscript(transcript)).toEqual({ ok: true })
    const next = await talk(model, [...transcript, { role: 'user', content: 'Go on.' }])
    expect(next.result).toMatchObject({ reason: 'completed' })
    await server.close()
  })
})
