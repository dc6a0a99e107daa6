import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import {
  type AnyTool,
  allowAllTools,
  createToolUseContext,
  defineTool,
  isSignalboxError,
  StreamingToolExecutor,
  type Tool,
  type ToolResultBlock,
  type ToolUseContext,
} from '../../src/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { drain, flush, resultOf, takeReady, testTurn } from '../support/turn.ts'

const contentsOf = async (tools: AnyTool[], name: string, input: unknown = {}) => {
  const { add, executor } = testTurn(tools)
  add('a', name, input)
  return (await drain(executor)).map((update) => resultOf(update).content)
}

describe('finding a tool', () => {
  it('T1 by name, then by alias, in the tools of the constructor', async () => {
    const named = (name: string, aliases: string[]): AnyTool => ({
      name,
      aliases,
      inputSchema: z.object({}),
      call: async () => ({ data: name }),
    })
    const tools = [named('Old', ['Read']), named('Read', []), named('mcp__files__list', ['Ls'])]
    expect(await contentsOf(tools, 'Read')).toEqual(['Read'])
    expect(await contentsOf(tools, 'Ls')).toEqual(['mcp__files__list'])
    expect((await contentsOf(tools, 'read'))[0]).toContain('No such tool available: read')
  })

  it.each<[string, unknown, RegExp]>([
    ['no object', null, /tools\[0\]: expected an object, received null/],
    [
      'no name',
      { call() {}, inputSchema: z.object({}) },
      /tools\[0\]: name: expected a non-empty string, received undefined/,
    ],
    ['no call', { name: 'X', inputSchema: z.object({}) }, /tools\[0\] \(X\): call: expected a function/],
    [
      'no schema',
      { name: 'X', call() {}, inputSchema: { type: 'object' } },
      /tools\[0\] \(X\): inputSchema: expected a Zod object schema, received \{"type":"object"\}/,
    ],
    [
      'a timeout that is none',
      { ...heldTool('X').tool, timeout: { totalMs: '5' } },
      /\(X\): timeout: expected milliseconds/,
    ],
    [
      'a wrong time until it goes to the background',
      { ...heldTool('X').tool, background: { afterMs: Number.NaN } },
      /\(X\): background: expected \{ afterMs\?, awaited\?, onEnd\? \}/,
    ],
    [
      'an unknown end in the background',
      { ...heldTool('X').tool, background: { onEnd: 'x' } },
      /\(X\): background: expected .* received \{"onEnd":"x"\}/,
    ],
    [
      'an unknown moment to start',
      { ...heldTool('X').tool, startWhen: 'later' },
      /\(X\): startWhen: expected 'closed', 'nextBlock' or 'turnEnded', received "later"/,
    ],
    [
      'no room for a result',
      { ...heldTool('X').tool, maxResultSizeChars: Number.NaN },
      /\(X\): maxResultSizeChars: expected/,
    ],
  ])('T1 a tool with %s is rejected with its index, the field and the received value', (_, tool, message) => {
    expect(() => new StreamingToolExecutor([tool as AnyTool])).toThrow(message)
  })

  it('T1 an invalid list of tools, canUseTool or option is rejected by name', () => {
    const { tool } = heldTool('Read')
    expect(() => new StreamingToolExecutor(tool as never)).toThrow('tools: expected an array of tools')
    expect(() => new StreamingToolExecutor([tool], 'yes' as never)).toThrow(
      'canUseTool: expected a function, received "yes"',
    )
    expect(() => new StreamingToolExecutor([tool], undefined, {}, { maxConcurency: 1 } as never)).toThrow(
      /^Unknown option maxConcurency\. Known options: .*\bmaxConcurrency,/,
    )
    expect(() => new StreamingToolExecutor([tool], undefined, { abortController: {} as never })).toThrow(
      'context.abortController: expected an AbortController',
    )
    for (const [name, value] of [
      ['maxConcurrency', 0],
      ['abortGraceMs', -1],
      ['uuid', 7],
      ['clock', {}],
    ] as const) {
      expect(() => new StreamingToolExecutor([tool], undefined, {}, { [name]: value })).toThrow(`${name}: expected`)
    }
  })

  it('T1 two tools with one name are rejected', () => {
    const { tool } = heldTool('Read')
    try {
      new StreamingToolExecutor([tool, tool])
      expect.unreachable()
    } catch (error) {
      expect(isSignalboxError(error) && error.code).toBe('invalid_tool')
    }
  })
})

describe('properties of a tool', () => {
  it('T2 T3 the schema parses; isConcurrencySafe gets the parsed input', async () => {
    const seen: unknown[] = []
    const tool = defineTool({
      name: 'Read',
      inputSchema: z.object({ n: z.coerce.number().default(7), rest: z.string().optional() }),
      isConcurrencySafe: (input) => seen.push(input) > 0,
      call: async (input) => ({ data: JSON.stringify(input) }),
    })
    expect(await contentsOf([tool], 'Read', { extra: 1 })).toEqual(['{"n":7}'])
    expect(seen).toEqual([{ n: 7 }])
  })

  it('T3 unsafe by default, if it throws, and if the input does not parse', () => {
    const safeIf = (isConcurrencySafe?: () => boolean) =>
      heldTool('Read', { isConcurrencySafe: isConcurrencySafe as never })
    const throws = safeIf(() => {
      throw new Error('no')
    })
    const { add } = testTurn([throws.tool])
    add('a', 'Read')
    add('b', 'Read')
    expect(throws.started).toEqual(['a'])

    const silent = safeIf(undefined)
    const second = testTurn([silent.tool])
    second.add('a', 'Read')
    second.add('b', 'Read')
    expect(silent.started).toEqual(['a'])
  })

  it("T4 interruptBehavior is 'block' by default and if it throws", () => {
    const throws = heldTool('Read', {
      interruptBehavior: () => {
        throw new Error('no')
      },
    })
    const { add, executor } = testTurn([throws.tool])
    add('a', 'Read')
    executor.abort('interrupt')
    expect(throws.run('a').context.abortController.signal.aborted).toBe(false)
  })

  it('T5 cancelsSiblingsOnError: never by default, and a function that is called for each sibling', async () => {
    const failures: unknown[] = []
    const bash = heldTool('Bash', {
      safe: true,
      cancelsSiblingsOnError: (failure, sibling) => {
        failures.push([failure.error, sibling.toolUseID])
        return failure.error !== 'benign'
      },
    })
    const read = heldTool('Read', { safe: true })
    const { add, executor } = testTurn([bash.tool, read.tool])
    add('benign', 'Bash')
    add('plain', 'Read')
    add('bad', 'Bash')
    add('other', 'Read')
    bash.run('benign').fail('benign')
    read.run('plain').fail('a read that fails')
    await flush()
    expect(takeReady(executor)).toHaveLength(2)
    bash.run('bad').fail('bad')
    await flush()
    expect(read.run('other').context.abortController.signal.reason).toBe('sibling_error')
    // once per sibling that is not completed
    expect(failures).toEqual([
      ['benign', 'plain'],
      ['benign', 'bad'],
      ['benign', 'other'],
      ['bad', 'other'],
    ])
  })

  it('T6 P3 normalizeInput, then validateInput; a veto becomes the error result', async () => {
    const calls: unknown[] = []
    const tool = defineTool({
      name: 'Write',
      inputSchema: z.object({ path: z.string() }),
      normalizeInput: async ({ path }) => ({ path: path.trim() }),
      validateInput: async ({ path }, context) => {
        calls.push([path, context.toolUseID])
        return path === '' ? { result: false, message: 'The path is empty.' } : { result: true }
      },
      call: async ({ path }) => ({ data: `wrote [${path}]` }),
    })
    expect(await contentsOf([tool], 'Write', { path: ' a ' })).toEqual(['wrote [a]'])
    expect(await contentsOf([tool], 'Write', { path: '  ' })).toEqual([
      '<tool_use_error>The path is empty.</tool_use_error>',
    ])
    expect(calls).toEqual([
      ['a', 'a'],
      ['', 'a'],
    ])
  })

  it('T6 a validateInput that throws or returns an invalid value prevents the call', async () => {
    const started: string[] = []
    const withCheck = (validateInput: () => never): AnyTool => ({
      name: 'Write',
      inputSchema: z.object({}),
      validateInput,
      call: async () => ({ data: String(started.push('ran')) }),
    })
    const throws = () => {
      throw new Error('disk gone')
    }
    expect((await contentsOf([withCheck(throws)], 'Write'))[0]).toContain('disk gone')
    expect((await contentsOf([withCheck((() => 'yes') as never)], 'Write'))[0]).toContain('validateInput must return')
    expect(started).toEqual([])
  })
})

describe('running', () => {
  it('T7 a function gets input, context, canUseTool, the message and onProgress', async () => {
    let seen: unknown[] = []
    const tool: AnyTool = {
      name: 'Read',
      inputSchema: z.object({ n: z.number() }),
      call: async (...args) => {
        seen = args
        args[4]({ toolUseID: 'inner', data: 'half' })
        return { data: 'whole' }
      },
    }
    const { add, executor, message } = testTurn([tool], { context: { mine: 1 } })
    add('a', 'Read', { n: 1 })
    const [progress, result] = await drain(executor)
    expect(seen.slice(0, 4)).toMatchObject([{ n: 1 }, { toolUseID: 'a', mine: 1 }, allowAllTools, message])
    expect(progress?.message).toMatchObject({
      type: 'progress',
      toolUseID: 'inner',
      parentToolUseID: 'a',
      data: 'half',
    })
    expect(result && resultOf(result).content).toBe('whole')
  })

  it("T7 the context has the call's own abort controller", () => {
    const read = heldTool('Read', { safe: true })
    const { add, host } = testTurn([read.tool])
    add('a', 'Read')
    add('b', 'Read')
    const controllers = ['a', 'b'].map((id) => read.run(id).context.abortController)
    expect(new Set([...controllers, host]).size).toBe(3)
  })

  it('T7 a generator yields progress and its result, or returns the result', async () => {
    const generator = (returns: boolean): AnyTool => ({
      name: 'Gen',
      inputSchema: z.object({}),
      async *call() {
        yield { type: 'progress', data: 1 }
        if (!returns) yield { type: 'result', data: 'yielded' }
        return returns ? { data: 'returned' } : undefined
      },
    })
    for (const [returns, data] of [
      [true, 'returned'],
      [false, 'yielded'],
    ] as const) {
      const { add, executor } = testTurn([generator(returns)])
      add('a', 'Gen')
      const [progress, result] = await drain(executor)
      expect(progress?.message).toMatchObject({ type: 'progress', toolUseID: 'a', data: 1 })
      expect(result && resultOf(result).content).toBe(data)
    }
  })

  it('T7 newMessages follow the result', async () => {
    const read = heldTool('Read')
    const { add, executor } = testTurn([read.tool])
    add('a', 'Read')
    const extra = { type: 'system', subtype: 'note', uuid: 'u', timestamp: 't' } as const
    read.run('a').finish({ newMessages: [extra] })
    const updates = await drain(executor)
    expect(updates.map(({ message }) => message.type)).toEqual(['user', 'system'])
    expect(updates[1]?.message).toBe(extra)
  })

  it('T8 mapResult makes the block; its id is always the id of the call', async () => {
    const tool = defineTool({
      name: 'Count',
      inputSchema: z.object({}),
      call: async () => ({ data: { n: 3 } }),
      mapResult: ({ n }) => ({ type: 'tool_result', tool_use_id: 'wrong', content: `${n} things` }),
    })
    const { add, executor } = testTurn([tool])
    add('a', 'Count')
    const [update] = await drain(executor)
    expect(update && resultOf(update)).toEqual({ type: 'tool_result', tool_use_id: 'a', content: '3 things' })
    expect(update?.message).toMatchObject({ toolUseResult: { n: 3 } })
  })

  it.each<[string, unknown, string | ToolResultBlock['content']]>([
    ['a string', 'text', 'text'],
    ['nothing', undefined, '(no output)'],
    ['plain data', { a: [1, null, 'x'] }, '{"a":[1,null,"x"]}'],
    ['content blocks', [{ type: 'text', text: 'hi' }], [{ type: 'text', text: 'hi' }]],
    ['an image', [{ type: 'image', source: {} }], [{ type: 'image', source: {} }]],
    ['an empty text', [{ type: 'text', text: '' }], '(no output)'],
    [
      'an empty text beside another',
      [
        { type: 'text', text: '' },
        { type: 'text', text: 'hi' },
      ],
      [{ type: 'text', text: 'hi' }],
    ],
    ['blocks of another kind', [{ type: 'video' }], '[{"type":"video"}]'],
  ])('T8 without a mapper: %s', async (_, data, content) => {
    const tool: AnyTool = { name: 'X', inputSchema: z.object({}), call: async () => ({ data }) }
    expect(await contentsOf([tool], 'X')).toEqual([content])
  })

  it.each<[boolean, string]>([
    [false, '(no output)'],
    [true, '<tool_use_error>The call failed without an error message.</tool_use_error>'],
  ])('T8 a mapper that returns only an empty text, is_error: %s', async (isError, content) => {
    const tool: AnyTool = {
      name: 'X',
      inputSchema: z.object({}),
      call: async () => ({ data: '' }),
      mapResult: (_, id) => ({
        ...{ type: 'tool_result', tool_use_id: id, is_error: isError },
        content: [{ type: 'text', text: '' }],
      }),
    }
    expect(await contentsOf([tool], 'X')).toEqual([content])
  })

  it('T8 over maxResultSizeChars the result is truncated and says so', async () => {
    const tool: AnyTool = {
      name: 'X',
      inputSchema: z.object({}),
      maxResultSizeChars: 10,
      call: async () => ({ data: 'x'.repeat(50) }),
    }
    const [content] = await contentsOf([tool], 'X')
    expect(content).toMatch(/^x{10}\n\n\[Result truncated: only 10 characters/)
  })

  it('T9 startWhen is read by the host: the executor only knows hold and release', () => {
    const read = heldTool('Read', { startWhen: 'turnEnded' })
    const { add } = testTurn([read.tool])
    add('a', 'Read')
    expect(read.started).toEqual(['a'])
  })
})

describe('describing a call', () => {
  it.each<[unknown, string]>([
    [{ command: 'npm test' }, 'Bash(npm test)'],
    [{ file_path: '/a', pattern: 'b' }, 'Bash(/a)'],
    [{ pattern: 'b*' }, 'Bash(b*)'],
    [{ command: 'x'.repeat(41) }, `Bash(${'x'.repeat(40)}…)`],
    [{ command: '👍'.repeat(41) }, `Bash(${'👍'.repeat(40)}…)`],
    [{}, 'Bash'],
  ])('T10 %j reads %s', async (input, description) => {
    const bash = heldTool('Bash', { safe: true, cancelsSiblingsOnError: true })
    const read = heldTool('Read', { safe: true, obedient: true })
    const { add, executor } = testTurn([bash.tool, read.tool])
    add('r', 'Read')
    add('b', 'Bash', input)
    bash.run('b').fail('no')
    await flush()
    expect(takeReady(executor)[0]?.[1]).toBe(
      `<tool_use_error>Cancelled: parallel tool call ${description} errored</tool_use_error>`,
    )
  })

  it('T10 describe of the tool comes first; if it throws, only the name is shown', async () => {
    for (const [describeInput, expected] of [
      [() => 'tests', 'Bash(tests)'],
      [
        () => {
          throw new Error('no')
        },
        'Bash',
      ],
    ] as const) {
      const bash = heldTool('Bash', { safe: true, cancelsSiblingsOnError: true, describe: describeInput })
      const { add, executor } = testTurn([bash.tool])
      add('b', 'Bash', { command: 'npm test' })
      bash.run('b').fail('no')
      await flush()
      add('c', 'Bash')
      expect(takeReady(executor)[1]?.[1]).toContain(`parallel tool call ${expected} errored`)
    }
  })
})

describe('types', () => {
  it('T2 T7 T8 defineTool infers input and data from the schema and from call', () => {
    const tool = defineTool({
      name: 'Read',
      inputSchema: z.object({ path: z.string(), limit: z.number().default(10) }),
      isConcurrencySafe: (input) => {
        expectTypeOf(input).toEqualTypeOf<{ path: string; limit: number }>()
        return true
      },
      describe: ({ path }) => path,
      call: async ({ path, limit }, context) => {
        expectTypeOf(path).toEqualTypeOf<string>()
        expectTypeOf(context.toolUseID).toEqualTypeOf<string>()
        return { data: { lines: [path], limit } }
      },
      mapResult: (data, id) => {
        expectTypeOf(data).toEqualTypeOf<{ lines: string[]; limit: number }>()
        return { type: 'tool_result', tool_use_id: id, content: data.lines.join('\n') }
      },
      ownKey: 'kept',
    })
    expect(tool).toHaveProperty('ownKey', 'kept')
    expectTypeOf(tool).toExtend<AnyTool>()
    const context = createToolUseContext({ mine: 1, options: { tools: [tool] } })
    expectTypeOf(context.mine).toEqualTypeOf<number>()
    expectTypeOf(context.abortController).toEqualTypeOf<AbortController>()
    // @ts-expect-error a tool without a schema is no tool
    expect(() => defineTool({ name: 'X', call: async () => ({ data: 1 }) })).not.toThrow()
  })

  it('T2 defineTool accepts extra keys, and rejects misspelt known ones', () => {
    const call = async () => ({ data: 1 })
    const inputSchema = z.object({ path: z.string() })
    const own = {
      ownKey: 1,
      title: 'x',
      category: 'x',
      entry: 'x',
      annotations: {},
      outputSchema: z.object({}),
      isEnabled: () => true,
      retries: 2,
      version: 1,
      tags: [],
      execute: () => 1,
      7: 'x',
    }
    expect(defineTool({ name: 'X', inputSchema, call, ...own })).toMatchObject(own)
    // @ts-expect-error a letter too few
    const slip = defineTool({ name: 'X', inputSchema, call, isConcurencySafe: () => true })
    // at run time all keys are kept
    expect(slip).toHaveProperty('isConcurencySafe')
    // @ts-expect-error a letter too many
    defineTool({ name: 'X', inputSchema, call, mapResults: () => 1 })
    // @ts-expect-error two letters in the wrong order
    defineTool({ name: 'X', inputSchema, call, desrcibe: () => 'x' })
    // @ts-expect-error other capitals
    defineTool({ name: 'X', inputSchema, call, isReadonly: () => true })
    // @ts-expect-error underscores
    defineTool({ name: 'X', inputSchema, call, max_result_size_chars: 5 })
    // @ts-expect-error letters at the end
    defineTool({ name: 'X', inputSchema, call, timeoutMs: 5 })
    // @ts-expect-error letters at the beginning
    defineTool({ name: 'X', inputSchema, call, onInterruptBehavior: () => 'cancel' })
    // @ts-expect-error a short one
    defineTool({ name: 'X', inputSchema, call, retri: { attempts: 2 } })
    // @ts-expect-error also beside other keys
    defineTool({ name: 'X', inputSchema, call, ...own, cancelSiblingsOnError: true })
    const wanted = { alias: 'of the host' }
    expect(Object.assign(defineTool({ name: 'X', inputSchema, call }), wanted)).toMatchObject(wanted)
  })

  it('T2 T7 T8 defineTool infers the same beside extra keys, and from parts', () => {
    const common: Record<string, unknown> = { team: 'x' }
    const tool = defineTool({
      ...common,
      name: 'Read',
      inputSchema: z.object({ path: z.string() }),
      ownKey: (value: number) => value,
      isReadOnly: ({ path }) => path !== '',
      async *call({ path }, { toolUseID }, _ask, _message, onProgress) {
        expectTypeOf(toolUseID).toEqualTypeOf<string>()
        onProgress({ data: 1 })
        yield { type: 'result', data: { path } }
      },
      mapResult: (data, id) => {
        expectTypeOf(data).toEqualTypeOf<{ path: string }>()
        return { type: 'tool_result', tool_use_id: id, content: data.path }
      },
    })
    expectTypeOf(tool).toEqualTypeOf<Tool<z.ZodObject<{ path: z.ZodString }>, { path: string }>>()
    const withExtras = <Extras extends object>(extras: Extras) =>
      defineTool({ name: 'X', inputSchema: z.object({}), call: async () => ({ data: 1 }), ...extras })
    expectTypeOf(withExtras({ team: 'x' })).toExtend<AnyTool>()
    const named = <Schema extends z.ZodObject>(inputSchema: Schema, call: Tool<Schema, string>['call']) =>
      defineTool({ name: 'X', inputSchema, call: async (...args) => ({ data: typeof call(...args) }) })
    expectTypeOf(named(z.object({ n: z.number() }), async ({ n }) => ({ data: String(n) }))).toExtend<AnyTool>()
  })

  it('T7 T8 a call may return several types of data, and the mapper gets their union', () => {
    defineTool({
      name: 'Find',
      inputSchema: z.object({ word: z.string() }),
      call: async ({ word }) => {
        if (word === '') return { data: 'nothing to look for' }
        return {
          data: [word.length],
          contextModifier: (context) => {
            expectTypeOf(context).toEqualTypeOf<ToolUseContext>()
            return context
          },
        }
      },
      mapResult: (data, id) => {
        expectTypeOf(data).toEqualTypeOf<string | number[]>()
        return { type: 'tool_result', tool_use_id: id, content: String(data) }
      },
    })
  })

  it('T7 a generator infers its data too', () => {
    defineTool({
      name: 'Gen',
      inputSchema: z.object({}),
      async *call() {
        yield { type: 'progress', data: 'half' }
        yield { type: 'result', data: 42 }
      },
      mapResult: (data, id) => {
        expectTypeOf(data).toEqualTypeOf<number>()
        return { type: 'tool_result', tool_use_id: id, content: String(data) }
      },
    })
    const returning = defineTool({
      name: 'Gen',
      inputSchema: z.object({ n: z.number() }),
      async *call({ n }) {
        yield { type: 'progress', data: n }
        return { data: { n } }
      },
    })
    expectTypeOf(returning).toExtend<Tool<z.ZodObject, { n: number }>>()
  })
})
