import type { LanguageModelV2, LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider'
import type Anthropic from '@anthropic-ai/sdk'
import type OldAnthropic from 'anthropic-sdk-v0'
import type OpenAI from 'openai'
import type OldOpenAI from 'openai-v6'
import { describe, expectTypeOf, it } from 'vitest'
import {
  type AnyTool,
  type ApiMessage,
  createAssistantMessage,
  createUserMessage,
  type Message,
  type Query,
  query,
  type StreamingToolExecutor,
  toApiMessages,
  toolSchemas,
  type Usage,
} from '../../src/index.ts'
import { aiSdkModel } from '../../src/models/ai-sdk/index.ts'
import { anthropicModel } from '../../src/models/anthropic/index.ts'
import type { Model } from '../../src/models/model.ts'
import { openaiChatModel, openaiResponsesModel } from '../../src/models/openai/index.ts'

/** Type-checked, never run: the published clients are accepted, and their options are checked. */
describe('the published clients fit', () => {
  it('@anthropic-ai/sdk, with the beta API too', () => {
    const models = (client: Anthropic) => [
      anthropicModel(client, { model: 'claude-opus-4-8', max_tokens: 1_024, thinking: { type: 'adaptive' } }),
      anthropicModel(client.beta, { model: 'claude-fable-5', max_tokens: 1_024, betas: ['x'], fallbacks: 'default' }),
      // @ts-expect-error max_tokens is missing
      anthropicModel(client, { model: 'claude-opus-4-8' }),
      // @ts-expect-error no such field
      anthropicModel(client, { model: 'claude-opus-4-8', max_tokens: 1, maxTokens: 1 }),
    ]
    expectTypeOf(models).returns.toEqualTypeOf<Model[]>()
  })

  it('@anthropic-ai/sdk of the major before', () => {
    const models = (client: OldAnthropic) => [
      anthropicModel(client, { model: 'claude-opus-4-5', max_tokens: 1_024 }),
      anthropicModel(client.beta, { model: 'claude-opus-4-5', max_tokens: 1_024, betas: ['x'] }),
      // @ts-expect-error max_tokens is missing
      anthropicModel(client, { model: 'claude-opus-4-5' }),
    ]
    expectTypeOf(models).returns.toEqualTypeOf<Model[]>()
  })

  it('openai', () => {
    const models = (client: OpenAI) => [
      openaiResponsesModel(client, { model: 'gpt-5.2', store: false, include: ['reasoning.encrypted_content'] }),
      openaiChatModel(client, { model: 'gpt-5.2', temperature: 0 }),
      // @ts-expect-error no such field
      openaiResponsesModel(client, { model: 'gpt-5.2', stored: false }),
      // @ts-expect-error the model is missing
      openaiChatModel(client, { temperature: 0 }),
    ]
    expectTypeOf(models).returns.toEqualTypeOf<Model[]>()
  })

  it('openai of the major before', () => {
    const models = (client: OldOpenAI) => [
      openaiResponsesModel(client, { model: 'gpt-5.2', store: false }),
      openaiChatModel(client, { model: 'gpt-5.2', temperature: 0 }),
      // @ts-expect-error the model is missing
      openaiChatModel(client, { temperature: 0 }),
    ]
    expectTypeOf(models).returns.toEqualTypeOf<Model[]>()
  })

  it('language models of the AI SDK, version 2 to 4', () => {
    const models = (v4: LanguageModelV4, v3: LanguageModelV3, v2: LanguageModelV2) => [
      aiSdkModel(v4, { maxOutputTokens: 1_024, reasoning: 'low' }),
      aiSdkModel(v3, { temperature: 0 }),
      aiSdkModel(v2),
      // @ts-expect-error no such field
      aiSdkModel(v3, { max_tokens: 1 }),
    ]
    expectTypeOf(models).returns.toEqualTypeOf<Model[]>()
  })
})

describe('the types of the published clients fit without casts', () => {
  it('messages of the host go into a query', () => {
    const asked = (
      model: Model,
      now: Anthropic.MessageParam[],
      before: OldAnthropic.MessageParam[],
      beta: Anthropic.Beta.BetaMessageParam[],
      system: Anthropic.TextBlockParam[],
    ) => [
      query({ messages: now, tools: [], model, system }),
      query({ messages: before, tools: [], model }),
      query({ messages: beta, tools: [], model }),
      query({ messages: [{ role: 'user', content: [{ type: 'text', text: 'Go.' }] }], tools: [], model }),
      // @ts-expect-error a message has a role
      query({ messages: [{ content: 'Go.' }], tools: [], model }),
    ]
    expectTypeOf(asked).returns.toEqualTypeOf<Query[]>()
    const sent = (run: Query, content: Anthropic.ContentBlockParam[]) => run.send(content)
    expectTypeOf(sent).returns.toEqualTypeOf<boolean>()
  })

  it('a model’s reply becomes a message, and its calls go into an executor', () => {
    const made = (
      now: Anthropic.Message,
      before: OldAnthropic.Message,
      beta: Anthropic.Beta.BetaMessage,
      param: Anthropic.ContentBlockParam[],
    ) => [
      createAssistantMessage(now.content, { id: now.id }),
      createAssistantMessage(before.content),
      createAssistantMessage(beta.content),
      createUserMessage(param),
    ]
    expectTypeOf(made).returns.toExtend<Message[]>()
    const added = (executor: StreamingToolExecutor, reply: Anthropic.Message) => {
      const message = createAssistantMessage(reply.content)
      for (const block of reply.content) if (block.type === 'tool_use') executor.addTool(block, message)
    }
    expectTypeOf(added).returns.toEqualTypeOf<void>()
  })

  it('a transcript goes back to the client', () => {
    const asked = (client: Anthropic, old: OldAnthropic, transcript: Message[], tools: AnyTool[]) => {
      const head = { model: 'claude-opus-5-5', max_tokens: 1_024, tools: toolSchemas(tools) }
      void old.messages.create({ ...head, messages: toApiMessages(transcript) })
      return client.messages.create({ ...head, messages: toApiMessages(transcript) })
    }
    expectTypeOf(asked).returns.resolves.toExtend<Anthropic.Message>()
    expectTypeOf(toApiMessages([])).toEqualTypeOf<ApiMessage[]>()
  })

  it('usage is typed after narrowing to a reply', () => {
    const counted = async (run: Query): Promise<number> => {
      let total = 0
      for await (const message of run) {
        if (message.type !== 'system' || message.subtype !== 'model_reply') continue
        expectTypeOf(message.usage).toEqualTypeOf<Usage | undefined>()
        total += (message.usage?.input_tokens ?? 0) + (message.usage?.output_tokens ?? 0)
      }
      return total
    }
    expectTypeOf(counted).returns.resolves.toEqualTypeOf<number>()
    const reported = (reply: Anthropic.Message): Usage => ({ ...reply.usage })
    expectTypeOf(reported).returns.toEqualTypeOf<Usage>()
  })

  it('block fields are typed after narrowing by type', () => {
    const read = (message: Message): string => {
      if (message.type !== 'assistant') return ''
      const [block] = message.message.content
      if (block?.type === 'text') return block.text
      if (block?.type === 'thinking') return block.thinking
      if (block?.type === 'tool_use') return block.id + block.name
      if (block?.type === 'tool_result') return block.tool_use_id
      // extra fields of a service exist, with type unknown
      expectTypeOf(block?.item).toEqualTypeOf<unknown>()
      return ''
    }
    expectTypeOf(read).returns.toEqualTypeOf<string>()
  })
})
