import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  type AnyTool,
  allowAllTools,
  createAssistantMessage,
  createToolUseContext,
  type MessageUpdate,
  partitionToolCalls,
  runTools,
  runToolUse,
  StreamingToolExecutor,
  type ToolUseContext,
} from '../../../src/index.ts'
import { heldTool } from '../../support/held-tool.ts'
import { drain, flush, resultOf, toolUse } from '../../support/turn.ts'

const read = heldTool('Read', { safe: true })
const write = heldTool('Write')
const contextOf = (...tools: AnyTool[]) => createToolUseContext({ options: { tools } })

describe('partitionToolCalls', () => {
  it('B1 consecutive safe calls form one batch, each unsafe call its own', () => {
    const blocks = ['Read', 'Read', 'Write', 'Read', 'Read'].map((name, index) => toolUse(`${index}`, name))
    const batches = partitionToolCalls(blocks, contextOf(read.tool, write.tool))
    expect(batches.map(({ isConcurrencySafe, blocks: some }) => [isConcurrencySafe, some.map(({ id }) => id)])).toEqual(
      [
        [true, ['0', '1']],
        [false, ['2']],
        [true, ['3', '4']],
      ],
    )
  })

  it('B1 unknown tools and inputs that do not parse are unsafe', () => {
    const blocks = [toolUse('a', 'Read'), toolUse('b', 'Nope'), toolUse('c', 'Read', 5), toolUse('d', 'Read')]
    expect(partitionToolCalls(blocks, contextOf(read.tool)).map(({ isConcurrencySafe }) => isConcurrencySafe)).toEqual([
      true,
      false,
      false,
      true,
    ])
  })
})

describe('batches', () => {
  it('B2 run in turn, at most maxConcurrency at once, results in order', async () => {
    const reads = heldTool('Read', { safe: true })
    const writes = heldTool('Write')
    const blocks = [toolUse('a', 'Read'), toolUse('b', 'Read'), toolUse('c', 'Read'), toolUse('w', 'Write')]
    const seen: string[] = []
    const run = (async () => {
      const context = contextOf(reads.tool, writes.tool)
      for await (const update of runTools(blocks, [], allowAllTools, context, { maxConcurrency: 2 })) {
        seen.push(resultOf(update).tool_use_id)
      }
    })()
    await flush()
    expect(reads.started).toEqual(['a', 'b'])
    reads.run('b').finish()
    await flush()
    reads.run('c').finish()
    await flush()
    expect([writes.started, seen]).toEqual([[], []])
    reads.run('a').finish()
    await flush()
    expect(writes.started).toEqual(['w'])
    writes.run('w').finish()
    await run
    expect(seen).toEqual(['a', 'b', 'c', 'w'])
  })

  it("B2 a block's message is the one that holds it, else the last", async () => {
    const block = toolUse('a', 'Echo')
    const [first, second] = [createAssistantMessage([block]), createAssistantMessage([])]
    const echo: AnyTool = { name: 'Echo', inputSchema: z.object({}), call: async () => ({ data: 'x' }) }
    const updates: MessageUpdate[] = []
    const blocks = [block, toolUse('b', 'Echo')]
    for await (const update of runTools(blocks, [first, second], allowAllTools, contextOf(echo))) updates.push(update)
    expect(updates.map(({ message }) => message.type === 'user' && message.sourceToolAssistantUUID)).toEqual([
      first.uuid,
      second.uuid,
    ])
  })

  it('B2 an abort answers what has not run, in later batches too', async () => {
    const writes = heldTool('Write', { obedient: true })
    const context = contextOf(writes.tool)
    const ids: string[] = []
    const run = (async () => {
      const blocks = [toolUse('a', 'Write'), toolUse('b', 'Write')]
      for await (const update of runTools(blocks, [], allowAllTools, context)) ids.push(resultOf(update).tool_use_id)
    })()
    await flush()
    context.abortController.abort('escape')
    await run
    expect([ids, writes.started]).toEqual([['a', 'b'], ['a']])
  })

  it('B2 a context without tools is rejected with what is missing', async () => {
    for (const context of [{}, undefined, { options: undefined }]) {
      expect(() => runTools([], [], allowAllTools, context as never)).toThrow('{ options: { tools: [ … ] } }')
    }
    expect(await runTools([], [], allowAllTools, { options: { tools: [] } }).next()).toEqual({
      done: true,
      value: undefined,
    })
  })

  it('B2 breaking out of the loop ends the run', async () => {
    const reads = heldTool('Read', { safe: true })
    const generator = runTools([toolUse('a', 'Read'), toolUse('b', 'Read')], [], allowAllTools, contextOf(reads.tool))
    const first = generator.next()
    await flush()
    reads.run('a').finish()
    await first
    await generator.return()
    expect(reads.run('b').context.abortController.signal.reason).toBe('streaming_fallback')
  })

  it('P1 runToolUse runs one call alone, and nothing if the abort came first', async () => {
    const reads = heldTool('Read', { safe: true })
    const context = contextOf(reads.tool)
    const message = createAssistantMessage([])
    const first = runToolUse(toolUse('a', 'Read'), message, allowAllTools, context).next()
    await flush()
    reads.run('a').finish()
    expect((await first).value).toMatchObject({ message: { toolUseResult: 'a done' } })
    context.abortController.abort()
    const aborted = await runToolUse(toolUse('b', 'Read'), message, allowAllTools, context).next()
    expect(aborted.value).toMatchObject({ message: { toolUseResult: 'Cancelled before it started' } })
    expect(reads.started).toEqual(['a'])
  })
})

describe('streaming and batch', () => {
  const kinds = ['safe', 'unsafe', 'safeFails', 'unsafeFails', 'cascades', 'unknown', 'invalid'] as const
  type Kind = (typeof kinds)[number]

  /** Tools that take a given number of ticks, fail on demand, and read and change the context. */
  const toolOf = (kind: Kind): AnyTool => ({
    name: kind,
    inputSchema: z.object({ n: z.number() }),
    isConcurrencySafe: () => kind.startsWith('safe'),
    cancelsSiblingsOnError: kind === 'cascades',
    call: async (input, context) => {
      const { n } = input as { n: number }
      for (let tick = 0; tick < n; tick++) await null
      if (kind.endsWith('Fails') || (kind === 'cascades' && n % 3 === 0)) throw new RangeError(`${kind} ${n}`)
      const seen = ((context.seen as string[]) ?? []).join()
      return {
        data: `${kind} ${n} saw [${seen}]`,
        contextModifier: (before: ToolUseContext) => ({
          ...before,
          seen: [...((before.seen as string[]) ?? []), `${n}`],
        }),
      }
    },
  })
  const tools = kinds.filter((kind) => kind !== 'unknown').map(toolOf)

  const summary = (updates: MessageUpdate[]) =>
    updates.map((update) => [resultOf(update).tool_use_id, resultOf(update).content, update.newContext.seen])

  it('B3 give the same results in the same order for the same calls', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ kind: fc.constantFrom(...kinds), n: fc.nat(9) }), { maxLength: 14 }),
        fc.integer({ min: 1, max: 4 }),
        async (calls, maxConcurrency) => {
          const blocks = calls.map(({ kind, n }, index) =>
            toolUse(`c${index}`, kind, kind === 'invalid' ? { n: 'x' } : { n }),
          )
          const message = createAssistantMessage([...blocks])
          const streaming = new StreamingToolExecutor(tools, allowAllTools, contextOf(...tools), { maxConcurrency })
          for (const block of blocks) streaming.addTool(block, message)
          const batch: MessageUpdate[] = []
          const run = runTools(blocks, [message], allowAllTools, contextOf(...tools), { maxConcurrency })
          for await (const update of run) batch.push(update)
          const streamed = await drain(streaming)
          expect(summary(streamed)).toEqual(summary(batch))
          expect(streamed.map((update) => resultOf(update).tool_use_id)).toEqual(blocks.map(({ id }) => id))
        },
      ),
      { numRuns: 500 },
    )
  })
})
