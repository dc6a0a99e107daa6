import Anthropic from '@anthropic-ai/sdk'
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod'
import { stepCountIs, streamText, tool } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { z } from 'zod'
import { anthropicModel } from '../../dist/src/anthropic/index.js'
import { allowAllTools, query } from '../../dist/src/index.js'
import { fakeFetch } from './messages-api.mjs'

const inputSchema = z.object({ n: z.number() })
const names = ['Read', 'Write']
const options = { model: 'm', max_tokens: 1_000 }

const clientOf = ({ calls, clock }) =>
  new Anthropic({ apiKey: 'none', baseURL: 'http://127.0.0.1:9', maxRetries: 0, fetch: fakeFetch(calls, clock) })

/** Each runs one turn, tells of each result as it is in hand, and is over when all are. */
export const engines = {
  signalbox: (turn) => signalbox(turn, 'streaming'),
  'signalbox, batch': (turn) => signalbox(turn, 'batch'),
  'Anthropic toolRunner': (turn) => toolRunner(turn, false),
  'Anthropic toolRunner, eager': (turn) => toolRunner(turn, true),
  'AI SDK streamText': async ({ calls, clock, work, got }) => {
    const tools = Object.fromEntries(names.map((name) => [name, tool({ inputSchema, execute: ({ n }) => work(n) })]))
    const { fullStream } = streamText({ model: mockModel(calls, clock), prompt: 'go', tools, stopWhen: stepCountIs(1) })
    for await (const part of fullStream) if (part.type === 'tool-result') got(part.output)
  },
}

async function signalbox({ calls, clock, work, got }, toolExecution) {
  const tools = names.map((name) => ({
    name,
    inputSchema,
    isConcurrencySafe: () => name === 'Read',
    call: async ({ n }) => ({ data: await work(n) }),
  }))
  const model = anthropicModel(clientOf({ calls, clock }), options)
  const run = query({ messages: 'go', tools, model, canUseTool: allowAllTools, maxTurns: 1, toolExecution })
  for await (const message of run) if (message.type === 'user') got(message.toolUseResult)
}

async function toolRunner({ calls, clock, work, got }, runToolsEagerly) {
  const tools = names.map((name) => betaZodTool({ name, description: name, inputSchema, run: ({ n }) => work(n) }))
  const runner = clientOf({ calls, clock }).beta.messages.toolRunner({
    ...options,
    messages: [{ role: 'user', content: 'go' }],
    tools,
    stream: true,
    max_iterations: 1,
    runToolsEagerly,
  })
  for await (const stream of runner) {
    await stream.finalMessage()
    const answer = await runner.generateToolResponse()
    for (const { content } of answer.content) got(typeof content === 'string' ? content : content[0].text)
  }
}

function mockModel(calls, clock) {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
  const stream = () =>
    new ReadableStream({
      async start(controller) {
        controller.enqueue({ type: 'stream-start', warnings: [] })
        for (const [n, { id, name, endsAt }] of calls.entries()) {
          await clock.until(endsAt)
          controller.enqueue({ type: 'tool-call', toolCallId: id, toolName: name, input: JSON.stringify({ n }) })
        }
        controller.enqueue({ type: 'finish', usage, finishReason: { unified: 'tool-calls', raw: 'tool_use' } })
        controller.close()
      },
    })
  return new MockLanguageModelV4({ doStream: async () => ({ stream: stream() }) })
}
