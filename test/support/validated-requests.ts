import { afterEach, expect, vi } from 'vitest'
import { readField } from '../../src/base/read-field.ts'
import { anthropicRequestFlaws, messageFlaws } from './validate-anthropic-request.ts'

/**
 * Every request of every test is held to the rules of the Messages API: what a query asks its model, in whatever form
 * its messages came, and what `anthropicModel` sends. A test that sends something wrong on purpose says so.
 */
const flaws: string[] = []
let isOnPurpose = false

export const sendsInvalidRequests = (): void => {
  isOnPurpose = true
}

afterEach(() => {
  const found = flaws.splice(0)
  const wasOnPurpose = isOnPurpose
  isOnPurpose = false
  if (!wasOnPurpose) expect(found).toEqual([])
})

vi.mock('../../src/query/model-stream.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../src/query/model-stream.ts')>()
  const { anthropicMessages } = await import('../../src/models/anthropic/anthropic-request.ts')
  class ModelStream extends original.ModelStream {
    override start(...[model, request]: Parameters<InstanceType<typeof original.ModelStream>['start']>): void {
      if (request.messages.length > 0) flaws.push(...messageFlaws(anthropicMessages(request.messages)))
      super.start(model, request)
    }
  }
  return { ...original, ModelStream }
})

vi.mock('../../src/models/anthropic/anthropic-model.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../src/models/anthropic/anthropic-model.ts')>()
  const anthropicModel: typeof original.anthropicModel = (client, options) => {
    const isClient = typeof readField(readField(client, 'messages'), 'create') === 'function'
    if (!isClient) return original.anthropicModel(client, options)
    const create: typeof client.messages.create = (params, ...rest) => {
      flaws.push(...anthropicRequestFlaws(params))
      return client.messages.create(params, ...rest)
    }
    return original.anthropicModel({ messages: { create } }, options)
  }
  return { ...original, anthropicModel }
})
