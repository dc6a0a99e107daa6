import type { LanguageModelV4 } from '@ai-sdk/provider'
import { isStepCount, jsonSchema, type ModelMessage, streamText, type ToolSet, tool } from 'ai'
import { expect } from 'vitest'
import { z } from 'zod'
import {
  allowAllTools,
  defineTool,
  type QueryMessage,
  type QueryOptions,
  type QueryResult,
  query,
  toolSchemas,
} from '../../../src/index.ts'
import { aiSdkModel } from '../../../src/models/ai-sdk/index.ts'
import { checked } from '../../support/services/checked.ts'
import { type Answer, sends, sseServer } from './sse-server.ts'

/** A conversation: the replies of the service, and its tools. */
export interface Story {
  provider(baseURL: string): LanguageModelV4
  /** As they go over the wire. */
  readonly replies: readonly (string | Answer)[]
  /** Names of tools that answer with their name. */
  readonly tools?: readonly string[]
  /** Provider tools that run at the service or take text, as the AI SDK passes them to a provider. */
  readonly providerTools?: Readonly<Record<string, ToolSet[string]>>
  readonly system?: string
  readonly providerOptions?: Parameters<typeof streamText>[0]['providerOptions']
  /** Prompts that follow, each once the reply before it is complete. */
  readonly prompts?: readonly string[]
  /** `streamText()` sends something that the service refuses, for this reason. What it would send next is not known. */
  readonly isRefused?: boolean | RegExp
}

const answersOf = ({ replies }: Story): Answer[] =>
  replies.map((reply) => (typeof reply === 'string' ? sends(reply) : reply))

type Body = Record<string, unknown>

const answerOf = (name: string): string => `${name} ran`

export interface Heard {
  readonly requests: Body[]
  /** Of each reply: tokens of the request, those of them that a cache had, and tokens of the reply. */
  readonly usage: (readonly [input: number, cached: number, output: number])[]
}

/** What `streamText()` sends to the service, and the usage that it reports. */
export async function byStreamText(story: Story): Promise<Heard> {
  const server = await sseServer(...answersOf(story))
  const own = ownTools(story.tools ?? [])
  const functions = own.map(({ name, inputSchema }) => {
    const [schema] = toolSchemas([{ name, inputSchema, call: async () => ({ data: '' }) }])
    const execute = async () => answerOf(name)
    return [name, tool({ inputSchema: jsonSchema(schema?.input_schema ?? {}), execute })] as const
  })
  const usage: Heard['usage'] = []
  let messages: ModelMessage[] = []
  for (const content of ['Go.', ...(story.prompts ?? [])]) {
    messages = [...messages, { role: 'user', content }]
    const result = streamText({
      model: story.provider(server.url),
      messages,
      tools: { ...story.providerTools, ...Object.fromEntries(functions) },
      stopWhen: isStepCount(10),
      maxRetries: 2,
      onError: () => undefined,
      onStepFinish: ({ usage: { inputTokens, inputTokenDetails, outputTokens } }) => {
        usage.push([inputTokens ?? 0, inputTokenDetails.cacheReadTokens ?? 0, outputTokens ?? 0])
      },
      ...(story.system !== undefined && { instructions: story.system }),
      ...(story.providerOptions && { providerOptions: story.providerOptions }),
    })
    await result.consumeStream()
    if (story.prompts !== undefined) messages = [...messages, ...(await result.responseMessages)]
  }
  const requests = server.requests.map(({ body }) => body)
  const closed = server.close()
  const { isRefused = false } = story
  await (isRefused === false
    ? closed
    : expect(closed).rejects.toThrow(isRefused instanceof RegExp ? isRefused : 'refused'))
  return { requests, usage }
}

export interface Told extends Heard {
  readonly result: QueryResult | undefined
  readonly ran: string[]
  /** System messages: replies, retries, refusals. */
  readonly reports: Extract<QueryMessage, { type: 'system' }>[]
}

/** What `query()` sends, with the same model. */
export async function byQuery(story: Story, options: Partial<QueryOptions> = {}): Promise<Told> {
  const server = await sseServer(...answersOf(story))
  const ran: string[] = []
  const custom = Object.keys(story.providerTools ?? {}).filter(
    (name) => 'execute' in (story.providerTools?.[name] ?? {}),
  )
  const tools = [...ownTools(story.tools ?? []), ...ownTools(custom)].map((each) =>
    defineTool({
      ...each,
      call: async (input) => {
        ran.push(`${each.name} ${JSON.stringify(input)}`)
        return { data: answerOf(each.name) }
      },
    }),
  )
  const providerTools = Object.entries(story.providerTools ?? {}).map(([name, given]) => {
    const { id, args } = given as { id: `${string}.${string}`; args: Record<string, unknown> }
    return { type: 'provider' as const, id, name, args }
  })
  const model = aiSdkModel(checked(story.provider(server.url)), {
    // like `streamText()` if there are tools
    ...(tools.length + providerTools.length > 0 && { toolChoice: { type: 'auto' as const } }),
    ...(providerTools.length > 0 && { tools: providerTools }),
    ...(story.providerOptions && { providerOptions: story.providerOptions }),
  })
  const reports: Told['reports'] = []
  let messages: QueryOptions['messages'] = []
  let result: QueryResult | undefined
  for (const content of ['Go.', ...(story.prompts ?? [])]) {
    const run = query({
      messages: [...messages, { role: 'user', content }],
      tools,
      model,
      canUseTool: allowAllTools,
      maxTurns: 10,
      retry: { attempts: 2, backoffMs: 0 },
      ...(story.system !== undefined && { system: story.system }),
      ...options,
    })
    for await (const message of run) if (message.type === 'system') reports.push(message)
    messages = run.transcript
    result = run.result
  }
  const requests = server.requests.map(({ body }) => body)
  await server.close()
  return { requests, usage: reports.flatMap(usageOf), result, ran, reports }
}

function usageOf(report: Told['reports'][number]): Heard['usage'] {
  if (report.subtype !== 'model_reply') return []
  const { input_tokens, cache_read_input_tokens, output_tokens } = Object(report.usage) as Record<string, number>
  const cached = cache_read_input_tokens ?? 0
  return [[(input_tokens ?? 0) + cached, cached, output_tokens ?? 0]]
}

const ownTools = (names: readonly string[]) => names.map((name) => ({ name, inputSchema: z.looseObject({}) }))
