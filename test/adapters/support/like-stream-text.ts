import type { LanguageModelV4 } from '@ai-sdk/provider'
import { isStepCount, jsonSchema, streamText, type ToolSet, tool } from 'ai'
import { expect } from 'vitest'
import { z } from 'zod'
import { allowAllTools, defineTool, type QueryResult, query, toolSchemas } from '../../../src/index.ts'
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
  /** `streamText()` sends something that the service refuses. What it would send next is not known. */
  readonly isRefused?: boolean
}

const answersOf = ({ replies }: Story): Answer[] =>
  replies.map((reply) => (typeof reply === 'string' ? sends(reply) : reply))

type Body = Record<string, unknown>

const answerOf = (name: string): string => `${name} ran`

/** The requests that `streamText()` sends to the service. */
export async function byStreamText(story: Story): Promise<Body[]> {
  const server = await sseServer(...answersOf(story))
  const own = ownTools(story.tools ?? [])
  const functions = own.map(({ name, inputSchema }) => {
    const [schema] = toolSchemas([{ name, inputSchema, call: async () => ({ data: '' }) }])
    const execute = async () => answerOf(name)
    return [name, tool({ inputSchema: jsonSchema(schema?.input_schema ?? {}), execute })] as const
  })
  const result = streamText({
    model: story.provider(server.url),
    prompt: 'Go.',
    tools: { ...story.providerTools, ...Object.fromEntries(functions) },
    stopWhen: isStepCount(10),
    maxRetries: 2,
    onError: () => undefined,
    ...(story.system !== undefined && { instructions: story.system }),
    ...(story.providerOptions && { providerOptions: story.providerOptions }),
  })
  await result.consumeStream()
  const bodies = server.requests.map(({ body }) => body)
  const closed = server.close()
  await (story.isRefused === true ? expect(closed).rejects.toThrow('refused') : closed)
  return bodies
}

export interface Told {
  readonly requests: Body[]
  readonly result: QueryResult | undefined
  readonly ran: string[]
}

/** The requests that `query()` sends, with the same model. */
export async function byQuery(story: Story): Promise<Told> {
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
  const run = query({
    messages: 'Go.',
    tools,
    model,
    canUseTool: allowAllTools,
    maxTurns: 10,
    retry: { attempts: 2, backoffMs: 0 },
    ...(story.system !== undefined && { system: story.system }),
  })
  for await (const _ of run);
  const requests = server.requests.map(({ body }) => body)
  await server.close()
  return { requests, result: run.result, ran }
}

const ownTools = (names: readonly string[]) => names.map((name) => ({ name, inputSchema: z.looseObject({}) }))
