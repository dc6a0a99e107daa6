import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { z } from 'zod'
import { type AnyTool, allowAllTools, type Model, type QueryResult, query } from '../../src/index.ts'
import { anthropicModel } from '../../src/models/anthropic/index.ts'
import { openaiChatModel, openaiResponsesModel } from '../../src/models/openai/index.ts'
import { checkTranscript } from '../../src/transcripts/index.ts'
import { callBlock, textBlock } from '../support/held-model.ts'
import { sse } from '../support/sse-server.ts'
import { flush } from '../support/turn.ts'

/** One reply in the format of each service: some text, a safe call, an unsafe call, and the end. */
const messagesReply = sse([
  { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage: {} } },
  { type: 'ping' },
  ...textBlock(0, 'Grüße, let me see.'),
  ...callBlock(1, 'toolu_read', 'Read', '{"path":"ä.ts"}'),
  ...callBlock(2, 'toolu_write', 'Write', '{"path":"b.ts"}'),
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
] as { type: string }[])

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'chat_1', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const chatCall = (index: number, id: string, name: string, json: string) =>
  chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }) +
  chunk({ tool_calls: [{ index, function: { arguments: json.slice(0, 4) } }] }) +
  chunk({ tool_calls: [{ index, function: { arguments: json.slice(4) } }] })
const chatReply =
  chunk({ role: 'assistant', content: 'Grüße, let me see.' }) +
  chatCall(0, 'call_read', 'Read', '{"path":"ä.ts"}') +
  chatCall(1, 'call_write', 'Write', '{"path":"b.ts"}') +
  chunk({}, 'tool_calls') +
  'data: [DONE]\n\n'

const responsesCall = (output_index: number, call_id: string, name: string, json: string) => {
  const item = { type: 'function_call', id: `fc_${output_index}`, call_id, name }
  return [
    { type: 'response.output_item.added', output_index, item: { ...item, arguments: '' } },
    { type: 'response.function_call_arguments.delta', output_index, item_id: item.id, delta: json },
    { type: 'response.function_call_arguments.done', output_index, item_id: item.id, arguments: json },
    { type: 'response.output_item.done', output_index, item: { ...item, arguments: json, status: 'completed' } },
  ]
}
const responsesReply = sse([
  { type: 'response.created', response: { id: 'resp_1', model: 'm', output: [] } },
  ...responsesCall(0, 'call_read', 'Read', '{"path":"ä.ts"}'),
  ...responsesCall(1, 'call_write', 'Write', '{"path":"b.ts"}'),
  { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [], usage: {} } },
] as { type: string }[])

interface Client {
  readonly reply: string
  /** Through the real client library, with requests to `url`, or through `fetch`. */
  model(target: { url: string } | { fetch: typeof fetch }): Model
}

const base = (target: { url: string } | { fetch: typeof fetch }) =>
  'url' in target ? { baseURL: target.url } : { baseURL: 'http://127.0.0.1:9', fetch: target.fetch }

export const clients: Record<string, Client> = {
  '@anthropic-ai/sdk': {
    reply: messagesReply,
    model: (target) =>
      anthropicModel(new Anthropic({ apiKey: 'none', maxRetries: 0, ...base(target) }), {
        model: 'claude-opus-4-8',
        max_tokens: 1_000,
      }),
  },
  'openai, chat': {
    reply: chatReply,
    model: (target) => openaiChatModel(new OpenAI({ apiKey: 'none', maxRetries: 0, ...base(target) }), { model: 'm' }),
  },
  'openai, responses': {
    reply: responsesReply,
    model: (target) =>
      openaiResponsesModel(new OpenAI({ apiKey: 'none', maxRetries: 0, ...base(target) }), { model: 'm' }),
  },
}

export interface CutRun {
  readonly result: QueryResult
  /** How often each call's body ran. */
  readonly runs: Map<string, number>
  readonly problems: unknown
}

/** A query of one turn with the stream of this model. */
export async function runOnce(model: Model, attempts = 0): Promise<CutRun> {
  const runs = new Map<string, number>()
  const tool = (name: string, safe: boolean): AnyTool => ({
    name,
    inputSchema: z.object({ path: z.string() }),
    isConcurrencySafe: () => safe,
    call: async (_input, { toolUseID }) => {
      runs.set(toolUseID, (runs.get(toolUseID) ?? 0) + 1)
      return { data: name }
    },
  })
  const run = query({
    messages: 'go',
    tools: [tool('Read', true), tool('Write', false)],
    model,
    canUseTool: allowAllTools,
    maxTurns: 1,
    retry: { attempts, backoffMs: 0 },
  })
  for (;;) {
    const step = await run.next()
    if (step.done !== true) continue
    await flush()
    const check = checkTranscript(run.transcript)
    return { result: step.value, runs, problems: check.ok ? [] : check.problems }
  }
}
