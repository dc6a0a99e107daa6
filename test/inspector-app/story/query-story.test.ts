import { scriptedModel } from 'signalbox/scripted'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Narrator } from '../../../inspector-app/src/story/narrator.ts'
import { type AnyTool, allowAllTools, createLocks, defineTool, type QueryOptions, query } from '../../../src/index.ts'
import { createRecorder, ShownRuns } from '../../../src/inspect/index.ts'

const inputSchema = z.looseObject({})
const usage = { input_tokens: 1_000, output_tokens: 200 }
const look = defineTool({
  name: 'Look',
  inputSchema,
  isConcurrencySafe: () => true,
  call: async () => ({ data: 'seen' }),
})

/** Everything that is told about queries, each sentence after its rule. */
function watching() {
  const narrator = new Narrator()
  const shown = new ShownRuns()
  shown.begin(
    createRecorder({ onFrame: (frame) => narrator.take([frame]), prices: { scripted: { input: 3, output: 15 } } }),
  )
  const play = async (script: Parameters<typeof scriptedModel>[0], more: Partial<QueryOptions>): Promise<void> => {
    const run = query({ messages: 'go', tools: [], model: scriptedModel(script), canUseTool: allowAllTools, ...more })
    shown.add(run)
    for await (const _ of run) void _
  }
  const told = (): string[] => narrator.told.map(({ rule, text }) => `${rule} ${text}`)
  return { play, told }
}

describe('the story of a query', () => {
  it('X2 X3 tells a background call from its note to its outcome, once in all turns', async () => {
    const { play, told } = watching()
    let end = (): void => undefined
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const tools = [
      defineTool({
        ...{ name: 'Build', inputSchema, isConcurrencySafe: () => true, background: { afterMs: 1 } },
        call: () => ended.then(() => ({ data: 'built' })),
      }),
      look,
      defineTool({ name: 'Free', inputSchema, call: async () => ({ data: end() ?? 'freed' }) }),
    ] as AnyTool[]
    await play([[{ call: 'Build' }], [{ call: 'Look' }], [{ call: 'Free' }], 'Done.', 'All done.'], { tools })
    expect(told().filter((line) => line.startsWith('X'))).toEqual([
      'X2 #1 Build goes to the background as bg_1. The model gets a note in place of its result.',
      'X3 bg_1 Build has finished in the background.',
      'X3 The model gets the outcome of bg_1 Build with its next turn.',
    ])
    expect(told()).toContain('Q4 #1 Look starts: only background calls run.')
    expect(told()).not.toContain('Y1 The result of #1 Build is handed over.')
    expect(told().at(-1)).toBe('L4 The query ends: the model has nothing more to do.')
  })

  it('L2 L4 U2 tells each reply with what it used, and which limit ended the query', async () => {
    const { play, told } = watching()
    const turn = [{ call: 'Look' }, { stop: 'tool_use', usage }] as const
    await play([[...turn], [...turn], [...turn]], { tools: [look], limits: { turns: 2 } })
    expect(told().filter((line) => /reply|ends/.test(line))).toEqual([
      'L2 The model has finished its reply with 1 call (1.2k tok · $0.006).',
      'L2 The model has finished its reply with 1 call (1.2k tok · $0.006).',
      'U2 The query ends: limits.turns is reached (2 of 2 used).',
    ])
    const other = watching()
    await other.play([['Cut', { stop: 'max_tokens', usage }], 'Nothing to do.'], { maxTurns: 1 })
    expect(other.told()[0]).toMatch(/^L4 The model has finished its reply without a call \(max_tokens · 1\.2k tok/)
  })

  it('P2 P5 Q3 says why a call was answered with an error although its body never ran', async () => {
    const { play, told } = watching()
    const strict = defineTool({
      name: 'Strict',
      inputSchema: z.object({ path: z.string() }),
      call: async () => ({ data: '' }),
    })
    const tools = [strict, look] as AnyTool[]
    const calls = [{ call: 'Strict', input: { path: 7 } }, { call: 'Look' }, { call: 'Nope' }]
    await play([calls, 'Done.'], { tools, context: { permissions: { deny: ['Look'] } } })
    expect(told().filter((line) => /error|denied/.test(line))).toEqual([
      'Y1 The result of #1 Strict is handed over. It is an error: InputValidationError: `path`: expected string, received number 7.',
      'P5 #2 Look is denied by the rule Look.',
      expect.stringMatching(/^Y1 The result of #2 Look is handed over\. It is an error: .*denied by the rule "Look"/),
      'Y1 The result of #3 Nope is handed over. It is an error: Error: No such tool available: Nope.',
    ])
    expect(told()).toContain('L2 #1 Strict waits until the reply has gone past it.')
  })

  it('K6 says for which key of another query a call waits, and until when', async () => {
    const { play, told } = watching()
    const context = { locks: createLocks() }
    let end = (): void => undefined
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const edit = (call: () => Promise<{ data: string }>) =>
      [defineTool({ name: 'Edit', inputSchema, resources: () => ({ writes: ['file:a'] }), call })] as AnyTool[]
    let started = (): void => undefined
    const isStarted = new Promise<void>((resolve) => {
      started = resolve
    })
    const one = play([[{ call: 'Edit', id: 'first' }], 'Done.'], {
      context,
      tools: edit(async () => {
        started()
        await ended
        return { data: 'one' }
      }),
    })
    await isStarted
    const two = play([[{ call: 'Edit', id: 'second' }], 'Done.'], {
      context,
      tools: edit(async () => ({ data: 'two' })),
    })
    await expect.poll(told).toContain('K6 #1 Edit waits for key file:a, held by Edit (first).')
    expect(told()).not.toContain('K6 #1 Edit no longer waits for a key.')
    end()
    await Promise.all([one, two])
    expect(told().filter((line) => line.startsWith('K6'))).toHaveLength(2)
  })
})
