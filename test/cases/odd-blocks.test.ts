import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AssistantMessage, type ContentBlock, isSignalboxError, type ToolUseBlock } from '../../src/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { flush, testTurn, toolUse } from '../support/turn.ts'
import { done, expectNoStrays, expectPaired, onlyOutcome, outcomes, raise, roughTool, textOf } from './support.ts'

expectNoStrays()

/** Blocks that a model may send, without types, and outside their place in the transcript. */
const asBlock = (value: unknown): ToolUseBlock => value as ToolUseBlock

function nested(levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = { bottom: true }
  for (let level = 0; level < levels; level++) value = { inner: value }
  return value
}

describe('blocks', () => {
  const shapes: [string, unknown][] = [
    ['null', null],
    ['undefined', undefined],
    ['a string', 'tool_use'],
    ['a number', 7],
    ['an empty object', {}],
    ['a list', []],
    ['a block without an id', { type: 'tool_use', name: 'Read', input: {} }],
    ['a block with an empty id', { type: 'tool_use', id: '', name: 'Read', input: {} }],
    ['a block whose id is a number', { type: 'tool_use', id: 5, name: 'Read', input: {} }],
    ['a block without a name', { type: 'tool_use', id: 'a', input: {} }],
    ['a block whose name is an object', { type: 'tool_use', id: 'a', name: { first: 'Read' }, input: {} }],
    ['a block without input', { type: 'tool_use', id: 'a', name: 'Read' }],
    [
      'a block whose getters throw',
      {
        get id() {
          return raise(new TypeError('getter'))
        },
      },
    ],
  ]

  it.each(shapes)('Q2 Q8 %s: addTool does not throw, and the block it returns is answered', async (_, shape) => {
    const { executor, add, message } = testTurn([roughTool('Read', done), roughTool('Good', done)])
    const block = executor.addTool(asBlock(shape), message)
    add('good', 'Good')
    expect(block.id).toMatch(/./)
    const results = await outcomes(executor)
    expect(results.map(({ id }) => id)).toEqual([block.id, 'good'])
    expect(results[1]).toMatchObject({ isError: false })
  })

  it('Q2 Y6 an unreadable message of the host causes no missing result', async () => {
    const { executor } = testTurn([roughTool('Tool', done)])
    const message = new Proxy({} as AssistantMessage, { get: () => raise(new TypeError('trap')) })
    executor.addTool({ type: 'tool_use', id: 'a', name: 'Tool', input: {} }, message)
    expect((await outcomes(executor)).map(({ id, content }) => [id, content])).toEqual([['a', 'done']])
  })

  it('Q8 a block without a usable id runs, and its minted id is in the result and the transcript', async () => {
    const { executor, message } = testTurn([roughTool('Read', done)])
    const blocks = [{ type: 'tool_use', name: 'Read', input: {} }, Object.freeze(toolUse('', 'Read'))]
    message.message.content.push(...(blocks as ContentBlock[]))
    for (const block of blocks) executor.addTool(asBlock(block), message)
    const results = await outcomes(executor)
    expectPaired(
      message,
      results.map(({ id }) => id),
    )
    expect(new Set(results.map(({ id }) => id)).size).toBe(2)
    expect(results.map(({ isError }) => isError)).toEqual([false, false])
  })

  it('Q2 a frozen block in a frozen message runs like any other, and is not written to', async () => {
    const { executor, message } = testTurn([roughTool('Read', done)])
    const block = Object.freeze(toolUse('a', 'Read', Object.freeze({ file_path: '/a' })))
    message.message.content.push(block)
    Object.freeze(message.message.content)
    executor.addTool(block, Object.freeze(message))
    expect(await onlyOutcome(executor)).toMatchObject({ id: 'a', isError: false })
  })

  it('Q8 a frozen block in a frozen transcript whose id clashes: the returned block has the minted id', async () => {
    const { executor, message } = testTurn([roughTool('Read', done)])
    const blocks = [Object.freeze(toolUse('a', 'Read', { n: 1 })), Object.freeze(toolUse('a', 'Read', { n: 2 }))]
    message.message.content.push(...(blocks as ContentBlock[]))
    Object.freeze(message.message.content)
    const ids = blocks.map((block) => executor.addTool(block, message).id)
    expect(ids[1]).not.toBe('a')
    expect((await outcomes(executor)).map(({ id }) => id)).toEqual(ids)
  })

  it.each([
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
  ])('Q3 a tool by the name of %s is unknown', async (name) => {
    const { executor, add } = testTurn([roughTool('Read', done)])
    add('a', name)
    expect(textOf(await onlyOutcome(executor))).toBe(
      `<tool_use_error>Error: No such tool available: ${name}</tool_use_error>`,
    )
  })

  it.each(['__proto__', 'constructor', '../../etc/passwd', ' ', '\u0000'])('W1 ids are opaque: %j', async (id) => {
    const { executor, add } = testTurn([roughTool('Read', done)])
    add(id, 'Read')
    expect(await onlyOutcome(executor)).toMatchObject({ id, isError: false })
  })

  it.each([null, undefined])('T1 a block whose name is %s does not call a tool named null', async (name) => {
    const odd = heldTool('null')
    const { executor, message } = testTurn([odd.tool])
    executor.addTool(asBlock({ type: 'tool_use', id: 'a', name, input: {} }), message)
    expect(await onlyOutcome(executor)).toMatchObject({ isError: true })
    expect(odd.started).toEqual([])
  })

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['an empty object', {}],
    ['one without content', { type: 'assistant', uuid: 'u', message: { id: 'm', role: 'assistant' } }],
  ])('Y6 an assistant message that is %s: rejected at once or answered, never a hang', async (_, message) => {
    const { executor } = testTurn([roughTool('Read', done)])
    let isRefused = false
    try {
      executor.addTool(toolUse('a', 'Read'), message as never)
    } catch (error) {
      isRefused = isSignalboxError(error)
    }
    expect(await outcomes(executor)).toHaveLength(isRefused ? 0 : 1)
  })

  it('W3 Q3 an unknown name with a lone surrogate: text that the API accepts', async () => {
    const { executor, add } = testTurn([])
    add('a', 'R\ud800d')
    expect(String((await onlyOutcome(executor)).content).isWellFormed()).toBe(true)
  })
})

describe('input', () => {
  it.each([
    ['undefined', undefined, /object/],
    ['null', null, /object/],
    ['a number', 5, /object.*5/],
    ['a string', 'ls', /object.*ls/],
    ['a list', ['ls'], /object.*array/],
    ['a JSON string of the object', '{"command":"ls"}', /JSON string/],
  ])('Q8 P2 %s in place of an object: an error that says so, and nothing runs', async (_, input, says) => {
    const read = heldTool('Read')
    const { executor, message } = testTurn([read.tool])
    executor.addTool(asBlock({ type: 'tool_use', id: 'a', name: 'Read', input }), message)
    const result = await onlyOutcome(executor)
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(/^<tool_use_error>InputValidationError: /)
    expect(textOf(result)).toMatch(says)
    expect(read.started).toEqual([])
  })

  it.each([
    ['one long string', { text: 'x'.repeat(1_000_001) }],
    ['many short ones', Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`key${index}`, 'v']))],
    ['one long key', { ['k'.repeat(1_000_001)]: 1 }],
    ['a long list', { list: new Array(500_000).fill(0) }],
  ])('Q8 oversized (%s): an error before the schema sees it', async (_, input) => {
    let seen = 0
    const inputSchema = z.looseObject({}).refine(() => ++seen > 0)
    const { executor, add } = testTurn([roughTool('Read', done, { inputSchema })])
    add('a', 'Read', input)
    const result = await onlyOutcome(executor)
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(/1000000/)
    expect(textOf(result).length).toBeLessThan(1_000)
    expect(seen).toBe(0)
  })

  it('Q8 nested 100,000 deep: an error that says so, before the schema sees it', async () => {
    let seen = 0
    const inputSchema = z.looseObject({}).refine(() => ++seen > 0)
    const { executor, message } = testTurn([roughTool('Read', done, { inputSchema })])
    executor.addTool(toolUse('a', 'Read', nested(100_000)), message)
    const result = await onlyOutcome(executor)
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(/nested/)
    expect(seen).toBe(0)
  })

  it('Q8 deeply nested and sent again: still the same call, one result', async () => {
    const { executor, message } = testTurn([roughTool('Read', done)])
    executor.addTool(toolUse('a', 'Read', nested(300)), message)
    expect(executor.addTool(toolUse('a', 'Read', nested(300)), message).id).toBe('a')
    expect(await outcomes(executor)).toHaveLength(1)
  })

  it('Q8 a cycle, which no model sends but a host may: an error, nothing runs', async () => {
    const input: Record<string, unknown> = {}
    input.self = input
    const read = heldTool('Read')
    const { executor, message } = testTurn([read.tool])
    executor.addTool(toolUse('a', 'Read', input), message)
    expect(await onlyOutcome(executor)).toMatchObject({ isError: true })
    expect(read.started).toEqual([])
  })

  it('Q8 with getters that throw, even when sent again: an error result and no throw', async () => {
    const { executor, message } = testTurn([roughTool('Read', done)])
    const unreadable = () =>
      toolUse('a', 'Read', {
        get x() {
          return raise(new TypeError('getter'))
        },
      })
    executor.addTool(unreadable(), message)
    expect(() => executor.addTool(unreadable(), message)).not.toThrow()
    expect((await outcomes(executor)).every(({ isError }) => isError)).toBe(true)
  })

  it('Q2 with __proto__ as a key changes no prototype', async () => {
    const read = heldTool('Read')
    const { add } = testTurn([read.tool])
    add('a', 'Read', JSON.parse('{"__proto__":{"isAdmin":true},"deep":{"__proto__":{"isAdmin":true}}}'))
    const { input } = read.run('a')
    expect(Object.getPrototypeOf(input)).toBe(Object.prototype)
    expect((input as { isAdmin?: unknown }).isAdmin).toBeUndefined()
    expect((input.deep as { isAdmin?: unknown }).isAdmin).toBeUndefined()
    expect(({} as { isAdmin?: unknown }).isAdmin).toBeUndefined()
  })

  it('Q8 that differs only under __proto__ is another input', async () => {
    const { executor, add } = testTurn([roughTool('Read', done)])
    add('a', 'Read', JSON.parse('{"__proto__":{"n":1}}'))
    expect(add('a', 'Read', JSON.parse('{"__proto__":{"n":2}}')).id).not.toBe('a')
    expect(await outcomes(executor)).toHaveLength(2)
  })

  it('W3 P2 an invalid value truncated inside a surrogate pair: text that the API accepts', async () => {
    const inputSchema = z.object({ count: z.number() })
    const { executor, add } = testTurn([roughTool('Read', done, { inputSchema })])
    add('a', 'Read', { count: '😀'.repeat(100) })
    await flush()
    expect(String((await onlyOutcome(executor)).content).isWellFormed()).toBe(true)
  })
})
