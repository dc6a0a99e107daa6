import { afterEach, expect, vi } from 'vitest'
import { readField } from '../../src/base/read-field.ts'
import { flawsOfChildren } from './children/watched-children.ts'
import { flaws, takeFlaws } from './sent-flaws.ts'
import { chatFlaws } from './services/chat-flaws.ts'
import type { Fields } from './services/flaws.ts'
import { promptFlaws } from './services/prompt-flaws.ts'
import { responsesFlaws } from './services/responses-flaws.ts'
import { anthropicRequestFlaws } from './validate-anthropic-request.ts'

/**
 * Holds every request of every test to the rules of the services. What a query asks its model is checked in the form of
 * each of the four services, whichever model the test uses. What an adapter hands to its client is checked once more,
 * with its options. A test that sends something wrong on purpose says so. Child processes: see `children`.
 */
afterEach(() => {
  const { found, isOnPurpose } = takeFlaws()
  if (!isOnPurpose) expect(found).toEqual([])
  expect(flawsOfChildren()).toEqual([])
})

const note = (service: string, found: readonly string[]): void => {
  for (const flaw of found) flaws.push(`${service}: ${flaw}`)
}

vi.mock('../../src/query/model-stream.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../src/query/model-stream.ts')>()
  const { requestFlaws } = await import('./services/request-flaws.ts')

  class ModelStream extends original.ModelStream {
    override start(...[model, request]: Parameters<InstanceType<typeof original.ModelStream>['start']>): void {
      if (request.messages.length > 0) flaws.push(...requestFlaws(request))
      super.start(model, request)
    }
  }
  return { ...original, ModelStream }
})

/** The client, with its one method checked; anything that is no client stays as it is. */
function watched<Client>(client: Client, path: readonly string[], check: (params: Fields) => void): Client {
  const [key = '', ...rest] = path
  const own = readField(client, key)
  if (rest.length > 0) {
    if (typeof own !== 'object' || own === null) return client
    return withField(client, key, watched(own, rest, check))
  }
  if (typeof own !== 'function') return client
  const create = (params: Fields, ...more: unknown[]) => {
    check(params)
    return own.call(client, params, ...more)
  }
  return withField(client, key, create)
}

const withField = <Value>(value: Value, key: string, field: unknown): Value =>
  new Proxy(value as object, {
    get: (target, name) => (name === key ? field : Reflect.get(target, name, target)),
  }) as Value

vi.mock('../../src/models/anthropic/anthropic-model.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../src/models/anthropic/anthropic-model.ts')>()
  const check = (params: Fields) => note('Messages', anthropicRequestFlaws(params))
  const anthropicModel: typeof original.anthropicModel = (client, options) =>
    original.anthropicModel(watched(client, ['messages', 'create'], check), options)
  return { ...original, anthropicModel }
})

vi.mock('../../src/models/openai/openai-chat-model.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../src/models/openai/openai-chat-model.ts')>()
  const check = (params: Fields) => note('Chat', chatFlaws(params))
  const openaiChatModel: typeof original.openaiChatModel = (client, options) =>
    original.openaiChatModel(watched(client, ['chat', 'completions', 'create'], check), options)
  return { ...original, openaiChatModel }
})

vi.mock('../../src/models/openai/openai-responses-model.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../src/models/openai/openai-responses-model.ts')>()
  const check = (params: Fields) => note('Responses', responsesFlaws(params))
  const openaiResponsesModel: typeof original.openaiResponsesModel = (client, options) =>
    original.openaiResponsesModel(watched(client, ['responses', 'create'], check), options)
  return { ...original, openaiResponsesModel }
})

vi.mock('../../src/models/ai-sdk/ai-sdk-model.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../src/models/ai-sdk/ai-sdk-model.ts')>()
  const aiSdkModel: typeof original.aiSdkModel = (model, options) => {
    const version = String(readField(model, 'specificationVersion'))
    const check = (params: Fields) => note('AI SDK', promptFlaws(params, version))
    return original.aiSdkModel(watched(model, ['doStream'], check), options)
  }
  return { ...original, aiSdkModel }
})
