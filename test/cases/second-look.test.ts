import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  type AnyTool,
  allowAllTools,
  createAssistantMessage,
  createAttachmentMessage,
  createToolUseContext,
  runTools,
  StreamingToolExecutor,
  type ToolResult,
  type ToolUseContext,
  toApiMessages,
} from '../../src/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { chartValue, drain, flush, resultOf, stateOf, takeAll, takeReady, testTurn, toolUse } from '../support/turn.ts'

const mark = (context: ToolUseContext) => ({ ...context, mark: 1 })

describe('results that are read while other calls start', () => {
  it('Y7 W7 no modifier is lost when a body reads results', async () => {
    const write = heldTool('Write')
    const seen: unknown[] = []
    const atOnce: AnyTool = {
      name: 'Quick',
      inputSchema: z.object({}),
      isConcurrencySafe: () => true,
      call: (() => ({ data: 'a', contextModifier: mark })) as never,
    }
    const reader: AnyTool = {
      ...atOnce,
      name: 'Reader',
      call: async () => {
        seen.push(...takeAll(executor).map(({ newContext }) => newContext.mark))
        return { data: 'b' }
      },
    }
    const { add, executor } = testTurn([write.tool, atOnce, reader])
    add('w', 'Write')
    add('a', 'Quick')
    add('b', 'Reader')
    write.run('w').finish()
    const rest = await drain(executor)
    expect([...seen, ...rest.map(({ newContext }) => newContext.mark)]).toEqual([undefined, 1, 1])
  })
})

describe('a controller that is aborted from inside', () => {
  it("A6 A7 with 'interrupt', by a body with block behaviour that never settles: it is abandoned after the grace period", async () => {
    const write = heldTool('Write')
    const { add, executor, clock, host } = testTurn([write.tool])
    add('a', 'Write')
    write.run('a').context.abortController.abort('interrupt')
    expect(host.signal.reason).toBe('interrupt')
    clock.increment(5_000)
    expect(takeReady(executor)).toHaveLength(1)
  })

  it('A6 while the call is queued again: it never runs, and the turn ends', async () => {
    const edit = heldTool('Edit', { isConcurrencySafe: (input) => !('writes' in input) })
    let controller: AbortController | undefined
    const { add, executor, host } = testTurn([edit.tool], {
      canUseTool: (_tool, _input, context, _message, id) => {
        if (id === 'a') return { behavior: 'allow' }
        controller = context.abortController
        return { behavior: 'allow', updatedInput: { writes: true } }
      },
    })
    add('a', 'Edit')
    add('b', 'Edit')
    expect(stateOf(executor, 'b')).toBe('queued')
    controller?.abort('no more')
    edit.run('a').finish()
    await flush()
    expect([edit.started, host.signal.reason, chartValue(executor).gate]).toEqual([['a'], 'no more', 'open'])
    expect(takeReady(executor)).toHaveLength(2)
  })
})

describe('growth', () => {
  it('Q9 adding after an abort does not scan other calls', () => {
    const stuck = heldTool('Stuck', { safe: true })
    const { add, executor } = testTurn([stuck.tool])
    add('stuck', 'Stuck')
    executor.abort('escape')
    for (let n = 0; n < 100; n++) add(`early${n}`, 'Stuck')
    let looks = 0
    const [first] = executor.actor.getSnapshot().context.run.calls.slice(1)
    const stage = first?.stage
    Object.defineProperty(first, 'stage', {
      get: () => {
        looks++
        return stage
      },
    })
    for (let n = 0; n < 100; n++) add(`late${n}`, 'Stuck')
    expect(looks).toBeLessThan(5)
  })

  it('Q9 Q8 many clashing ids are told apart in constant time', () => {
    let compared = 0
    const counted = () => {
      compared++
      return []
    }
    const input = (n: number) => ({ n, deep: new Proxy({}, { ownKeys: () => counted() }) })
    const read = heldTool('Read', { safe: true })
    const { executor, message } = testTurn([read.tool])
    for (let n = 0; n < 200; n++) executor.addTool(Object.freeze(toolUse('same', 'Read', input(n))), message)
    expect(compared).toBeLessThan(1_000)
  })

  it('Q8 calls that differ only deep inside their input are not the same', async () => {
    const read = heldTool('Read', { safe: true })
    const { executor, message } = testTurn([read.tool])
    const ids = [1, 2].map((n) => executor.addTool(toolUse('same', 'Read', { deep: { n } }), message).id)
    expect(new Set(ids).size).toBe(2)
    read.run('same').finish()
    expect((await drain(executor)).map((update) => resultOf(update).is_error)).toEqual([undefined, true])
  })

  it('Q8 W3 minted ids differ even if uuid returns the same value', async () => {
    const { executor, message } = testTurn([], { uuid: () => 'u' })
    const ids = [1, 2, 3].map(() => executor.addTool(toolUse('', 'Nope'), message).id)
    expect(new Set(ids).size).toBe(3)
    expect((await drain(executor)).map((update) => resultOf(update).tool_use_id)).toEqual(ids)
  })
})

describe('shapes', () => {
  it('W4 siblings are the calls of the current reply', () => {
    const read = heldTool('Read', { safe: true })
    const { add, executor } = testTurn([read.tool])
    add('a', 'Read')
    read.run('a').progress(1)
    add('b', 'Read')
    read.run('a').progress(2)
    const siblings = takeAll(executor).map(({ message }) => message.type === 'progress' && message.siblingToolUseIDs)
    expect(siblings).toEqual([undefined, ['b']])
  })

  it('T8 many text blocks together stay within the limit, with one notice', async () => {
    const blocks = Array.from({ length: 1_000 }, () => ({ type: 'text', text: '0123456789' }))
    const tool: AnyTool = {
      name: 'X',
      inputSchema: z.object({}),
      maxResultSizeChars: 95,
      call: async () => ({ data: blocks }),
    }
    const { add, executor } = testTurn([tool])
    add('a', 'X')
    const [update] = await drain(executor)
    const content = update && resultOf(update).content
    expect(JSON.stringify(content).match(/Result truncated/g)).toHaveLength(1)
    expect(JSON.stringify(content).length).toBeLessThan(1_000)
  })

  it('W5 toApiMessages accepts any message of a tool, and replies of any length', () => {
    const long = () => createAssistantMessage(Array.from({ length: 150_000 }, () => ({ type: 'text', text: '' })))
    const cycle: Record<string, unknown> = { n: 1n }
    cycle.self = cycle
    const api = toApiMessages([long(), long(), createAttachmentMessage({ type: 'structured_output', data: cycle })])
    expect(api[0]?.content).toHaveLength(300_000)
    expect(JSON.stringify(api[1])).toContain('[Circular]')
  })

  it('T7 the context of a body contains the tools of the executor', () => {
    const read = heldTool('Read')
    const executor = new StreamingToolExecutor([read.tool], allowAllTools, createToolUseContext())
    executor.addTool(toolUse('a', 'Read'), createAssistantMessage([]))
    expect(read.run('a').context.options.tools).toEqual([read.tool])
  })

  it('T6 a tool with getters that throw affects only its own call', async () => {
    const odd = Object.defineProperty(heldTool('Odd').tool, 'validateInput', {
      get: () => {
        throw new Error('no')
      },
    })
    const read = heldTool('Read', { safe: true })
    const { add, executor } = testTurn([odd, read.tool])
    add('a', 'Odd')
    executor.abort('escape')
    add('b', 'Read')
    expect(stateOf(executor, 'b')).toBe('completed')
  })
})

describe('values that are read only once', () => {
  it('T8 a mapper with holes in its content causes an error result, not null for the API', async () => {
    const content = [{ type: 'text' as const, text: 'a' }]
    content.length = 3
    const tool: AnyTool = {
      name: 'X',
      inputSchema: z.object({}),
      call: async () => ({ data: 1 }),
      mapResult: (_, id) => ({ type: 'tool_result', tool_use_id: id, content }),
    }
    const { add, executor } = testTurn([tool])
    add('a', 'X')
    expect((await drain(executor)).map((update) => resultOf(update).is_error)).toEqual([true])
  })

  it('T2 the schema of a call that succeeds runs once', async () => {
    let runs = 0
    const inputSchema = z.object({}).refine(() => ++runs > 0)
    const tool: AnyTool = { name: 'X', inputSchema, call: async () => ({ data: { n: 1 } }) }
    const { add, executor } = testTurn([tool])
    add('a', 'X')
    await drain(executor)
    expect(runs).toBe(1)
  })

  it('A7 Y6 a clock whose clearTimeout throws causes no missing result', async () => {
    const read = heldTool('Read', { timeout: { totalMs: 50, idleMs: 20 } })
    const clock = {
      setTimeout: () => 1,
      clearTimeout: () => {
        throw new Error('no')
      },
    }
    const { add, executor } = testTurn([read.tool], { clock })
    add('a', 'Read')
    read.run('a').progress(1)
    read.run('a').finish()
    await flush()
    expect(takeReady(executor)).toEqual([['a', 'a done']])
  })
})

describe('batches that readers leave', () => {
  it('B2 Y5 return() ends a sleeping run, and its bodies are aborted', async () => {
    const read = heldTool('Read', { safe: true })
    const run = runTools([toolUse('a', 'Read')], [], allowAllTools, { options: { tools: [read.tool] } })
    const pending = run.next()
    await flush()
    expect(await run.return()).toEqual({ done: true, value: undefined })
    expect(await pending).toEqual({ done: true, value: undefined })
    expect(read.run('a').context.abortController.signal.reason).toBe('streaming_fallback')
  })
})

describe('types', () => {
  it('T7 T8 fields that may be absent may also be undefined', () => {
    const result: ToolResult = { data: 1, newMessages: undefined, contextModifier: undefined }
    const tool: AnyTool = {
      name: 'X',
      description: undefined,
      aliases: undefined,
      timeout: { totalMs: undefined },
      inputSchema: z.object({}),
      call: async () => result,
    }
    expect(() => testTurn([tool])).not.toThrow()
  })
})
