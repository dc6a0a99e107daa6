import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { ContentBlock, Model, QueryOptions } from '../../../src/index.ts'
import { anthropicModel } from '../../../src/models/anthropic/index.ts'
import { openaiChatModel, openaiResponsesModel } from '../../../src/models/openai/index.ts'
import { checkTranscript } from '../../../src/transcripts/index.ts'
import { type Answer, frames, sends, sseServer } from './sse-server.ts'
import { talk } from './talk.ts'
import { lastChat, lastMessage, lastResponse } from './wires.ts'

type Service = 'Messages' | 'Chat' | 'Responses'

const key = { apiKey: 'none', maxRetries: 0, logLevel: 'off' as const }
const models: Record<Service, (url: string, options: object) => Model> = {
  Messages: (baseURL, options) =>
    anthropicModel(new Anthropic({ ...key, baseURL }), { model: 'm', max_tokens: 9, ...options }),
  Chat: (baseURL, options) => openaiChatModel(new OpenAI({ ...key, baseURL }), { model: 'm', ...options }),
  Responses: (baseURL, options) => openaiResponsesModel(new OpenAI({ ...key, baseURL }), { model: 'm', ...options }),
}
const last: Record<Service, string> = { Messages: lastMessage, Chat: lastChat, Responses: lastResponse }

export interface Outcome {
  /** Calls that ran, with their input. */
  readonly ran: string[]
  /** What stands in the transcript after the prompt, in short. */
  readonly told: string[]
  /** Why the query ended, and the last stop reason. */
  readonly ends: string
  /** Requests up to the end of the query. */
  readonly asked: number
  readonly retries?: number
  /** That the last reply cost. */
  readonly tokens?: unknown
}

export interface Story {
  readonly replies: readonly (readonly unknown[] | Answer)[]
  readonly playing?: Playing
  readonly outcome: Outcome
}

interface Playing extends Partial<QueryOptions> {
  /** Of the model. */
  readonly options?: object
}

/**
 * Plays replies to the real client, into a query. After the last of them the service says a last word. Then the
 * conversation is continued, and the service must take it.
 */
export async function play(
  service: Service,
  replies: readonly (readonly unknown[] | Answer)[],
  { options = {}, ...query }: Playing = {},
): Promise<Outcome> {
  const wire = (events: readonly unknown[]) => frames(events, service !== 'Chat')
  const answers = replies.map((reply) => (typeof reply === 'function' ? reply : sends(wire(reply))))
  let n = 0
  // each with ids of its own, as services have them
  const lastWord: Answer = (response, request) =>
    sends(last[service].replaceAll('_last', `_last${n++}`))(response, request)
  const server = await sseServer(...answers, lastWord)
  const model = models[service](server.url, options)
  const quick = { retry: { attempts: 1, backoffMs: 0 }, ...query }
  const { ran, result, transcript, messages } = await talk(model, 'Go.', quick)
  const asked = server.requests.length
  const check = checkTranscript(transcript)
  const next = await talk(model, [...transcript, { role: 'user', content: 'Go on.' }])
  await server.close()
  if (!check.ok) throw new Error(JSON.stringify(check.problems))
  if (next.result?.reason !== 'completed') throw new Error(`Not continued: ${next.result?.reason}`)
  const system = messages.filter((message) => message.type === 'system')
  const reply = system.findLast(({ subtype }) => subtype === 'model_reply')
  return {
    ran,
    told: transcript.slice(1).flatMap((message) => {
      if (message.type !== 'assistant' && message.type !== 'user') return []
      const { content } = message.message
      return typeof content === 'string' ? [content] : content.map(inShort)
    }),
    ends: `${result?.reason} ${result?.stopReason ?? '-'}`,
    asked,
    retries: system.filter(({ subtype }) => subtype === 'model_retry').length,
    tokens: reply?.usage?.output_tokens,
  }
}

function inShort(block: ContentBlock): string {
  if (block.type === 'text') return block.text
  if (block.type === 'tool_use')
    return `call ${idOf(block.id)} ${block.name} ${JSON.stringify(block.input).slice(0, 60)}`
  if (block.type === 'tool_result') return `${block.is_error ? 'error' : 'result'} ${idOf(block.tool_use_id)}`
  return block.type
}

/** Ids that Signalbox made up differ each time. */
const idOf = (id: string): string => (/^toolu_[0-9a-f]{32}$/.test(id) ? 'minted' : id)
