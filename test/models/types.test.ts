import type { LanguageModelV2, LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider'
import type Anthropic from '@anthropic-ai/sdk'
import type OpenAI from 'openai'
import { describe, expectTypeOf, it } from 'vitest'
import { aiSdkModel } from '../../src/ai-sdk/index.ts'
import { anthropicModel } from '../../src/anthropic/index.ts'
import { type AnyTool, type ApiMessage, type Message, toApiMessages, toolSchemas } from '../../src/index.ts'
import type { Model } from '../../src/model/model.ts'
import { openaiChatModel, openaiResponsesModel } from '../../src/openai/index.ts'

/** Compiled, never run: the clients as they are published are clients here, and their options are checked. */
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

  it('@anthropic-ai/sdk, in a loop of the host', () => {
    const asked = (client: Anthropic, transcript: Message[], tools: AnyTool[]) =>
      client.messages.create({
        model: 'claude-opus-5-5',
        max_tokens: 1_024,
        tools: toolSchemas(tools),
        messages: toApiMessages(transcript),
      })
    expectTypeOf(asked).returns.resolves.toExtend<Anthropic.Message>()
    expectTypeOf(toApiMessages([])).toEqualTypeOf<ApiMessage[]>()
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
