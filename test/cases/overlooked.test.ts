import { expect, it } from 'vitest'
import { z } from 'zod'
import {
  allowAllTools,
  createAssistantMessage,
  defineTool,
  runTools,
  StreamingToolExecutor,
  type ToolResultBlock,
} from '../../src/index.ts'
import { repairTranscript } from '../../src/transcripts/index.ts'

/** Found by random changes of the sources that no quick test noticed. */
const anything = z.looseObject({})
const use = (id: string, name: string, input: object = {}) => ({ type: 'tool_use' as const, id, name, input })

async function resultsOf(executor: StreamingToolExecutor): Promise<ToolResultBlock[]> {
  const blocks: ToolResultBlock[] = []
  for await (const { message } of executor.getRemainingResults()) {
    if (message.type === 'user') blocks.push(message.message.content[0] as ToolResultBlock)
  }
  return blocks
}

it.each([
  [['words']],
  [[null]],
  [[{ text: 'no type' }]],
])('a mapper that returns the blocks %j failed', async (content) => {
  const tool = defineTool({
    name: 'Odd',
    inputSchema: anything,
    call: async () => ({ data: 1 }),
    mapResult: (_, id) => ({ type: 'tool_result', tool_use_id: id, content: content as never }),
  })
  const executor = new StreamingToolExecutor([tool], allowAllTools, {})
  executor.addTool(use('a', 'Odd'), createAssistantMessage([]))
  const [block] = await resultsOf(executor)
  expect(block?.content).toContain('could not be formatted')
  expect(block?.is_error).toBe(true)
})

it('a mapper that returns blocks succeeded', async () => {
  const content = [{ type: 'text' as const, text: 'words' }]
  const tool = defineTool({
    name: 'Even',
    inputSchema: anything,
    call: async () => ({ data: 1 }),
    mapResult: (_, id) => ({ type: 'tool_result', tool_use_id: id, content }),
  })
  const executor = new StreamingToolExecutor([tool], allowAllTools, {})
  executor.addTool(use('a', 'Even'), createAssistantMessage([]))
  expect((await resultsOf(executor))[0]).toMatchObject({ content })
})

it('a call that cancels others is described by its parsed input', async () => {
  const tool = defineTool({
    name: 'Shell',
    inputSchema: z.object({ command: z.string().trim() }),
    cancelsSiblingsOnError: true,
    isConcurrencySafe: () => true,
    describe: ({ command }) => `<${command}>`,
    call: async (_, { toolUseID, abortController: { signal } }) => {
      if (toolUseID === 'first') throw new Error('no')
      return new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
  })
  const executor = new StreamingToolExecutor([tool], allowAllTools, {})
  executor.addTool(use('second', 'Shell', { command: 'b' }), createAssistantMessage([]))
  executor.addTool(use('first', 'Shell', { command: '  a  ' }), createAssistantMessage([]))
  const [second] = await resultsOf(executor)
  expect(second?.content).toContain('parallel tool call Shell(<a>) errored')
})

it('a result in batch mode names the message that contains its block', async () => {
  const tool = defineTool({ name: 'T', inputSchema: anything, call: async () => ({ data: 'x' }) })
  const [one, two] = [use('a', 'T'), use('b', 'T')]
  const messages = [
    createAssistantMessage([{ type: 'text', text: 'Look.' }, one]),
    createAssistantMessage([two]),
  ] as const
  const sources: unknown[] = []
  for await (const { message } of runTools([one, two], [...messages], allowAllTools, { options: { tools: [tool] } })) {
    if (message?.type === 'user') sources.push(message.sourceToolAssistantUUID)
  }
  expect(sources).toEqual(messages.map(({ uuid }) => uuid))
})

it('a result with a number for an id gets that id as text', () => {
  const result = { type: 'tool_result', tool_use_id: 7, content: 'ok' }
  const { messages } = repairTranscript([
    { role: 'user', content: 'go' },
    { role: 'assistant', content: [{ type: 'tool_use', id: '7', name: 'T', input: {} }] },
    { role: 'user', content: [result] },
  ] as never)
  const last = messages.at(-1) as unknown as { content?: unknown[]; message?: { content: unknown[] } }
  expect((last.message?.content ?? last.content)?.[0]).toMatchObject({ tool_use_id: '7', content: 'ok' })
})

it('a call has one context from its checks to its body if no other call changes it', async () => {
  const seen: object[] = []
  const note = (context: object): void => void seen.push(context)
  const tool = defineTool({
    name: 'T',
    inputSchema: anything,
    validateInput: async (_, context) => {
      note(context)
      return { result: true }
    },
    call: async (_, context) => {
      note(context)
      return { data: 'x' }
    },
  })
  const executor = new StreamingToolExecutor([tool], (_tool, _input, context) => {
    note(context)
    return { behavior: 'allow' }
  })
  executor.addTool(use('a', 'T'), createAssistantMessage([]))
  expect(await resultsOf(executor)).toMatchObject([{ content: 'x' }])
  expect(seen).toHaveLength(3)
  expect(new Set(seen).size).toBe(1)
})
