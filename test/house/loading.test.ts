import { expect, it, vi } from 'vitest'

it('a chart is created once, at its first use, and not on import', async () => {
  const made: string[] = []
  vi.doMock('xstate', async (original) => {
    const xstate = await original<typeof import('xstate')>()
    const setup = (given: never) => {
      const { createMachine, ...rest } = xstate.setup(given)
      return {
        ...rest,
        createMachine: (config: { id: string }) => {
          made.push(config.id)
          return createMachine(config as never)
        },
      }
    }
    return { ...xstate, setup }
  })
  const { createAssistantMessage, query, StreamingToolExecutor } = await import('../../src/index.ts')
  expect(made).toEqual([])
  // the first use also runs the engine's self-test, on charts of its own
  const ours = () => made.filter((id) => id !== 'worker' && id !== 'trial')

  for (const turn of ['first', 'second']) {
    const executor = new StreamingToolExecutor([], undefined)
    executor.addTool({ type: 'tool_use', id: turn, name: 'Nobody', input: {} }, createAssistantMessage([]))
    for await (const { message } of executor.getRemainingResults()) expect(message?.type).toBe('user')
    expect(ours()).toEqual(['executor', 'call'])
  }
  for await (const _ of query({ messages: 'go', tools: [], model: async function* () {} }));
  expect(ours()).toEqual(['executor', 'call', 'query'])
})
