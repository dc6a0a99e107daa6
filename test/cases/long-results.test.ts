import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { AnyTool, LongResult, ResultStore, ToolResultBlock } from '../../src/index.ts'
import { drain, flush, resultOf, takeReady, testTurn } from '../support/turn.ts'

const long = `${'head '.repeat(2_000)}${'tail '.repeat(2_000)}`
const toolWith = (data: unknown, more: Partial<AnyTool> = {}): AnyTool => ({
  name: 'Big',
  inputSchema: z.object({}),
  maxResultSizeChars: 5_000,
  call: async () => ({ data }),
  ...more,
})

async function resultWith(tool: AnyTool, resultStore?: ResultStore): Promise<ToolResultBlock> {
  const { add, executor } = testTurn([tool], { resultStore })
  add('a', 'Big')
  const updates = await drain(executor)
  expect(updates).toHaveLength(1)
  return resultOf(updates[0] as never)
}

const keeping = () => {
  const saved: LongResult[] = []
  const save = async (result: LongResult) => ({ path: `/kept/${saved.push(result)}` })
  return { saved, save }
}

describe('results that are too long for the model', () => {
  it('P10 the whole text goes to the store; the model gets size, path, head and tail', async () => {
    const store = keeping()
    const { content, is_error } = await resultWith(toolWith(long), store)
    expect(store.saved).toEqual([{ toolUseID: 'a', toolName: 'Big', text: long }])
    expect(content).toMatch(
      /^\[The result has 20000 characters.*\/kept\/1; .*\]\n\nhead .* 17000 characters left out …\n\n.*tail $/s,
    )
    expect([String(content).length < 5_000, is_error]).toEqual([true, undefined])
  })

  it('P10 a store that never answers: the result is truncated, and the turn goes on', async () => {
    const { add, executor, clock } = testTurn([toolWith(long)], { resultStore: { save: () => new Promise(() => {}) } })
    add('a', 'Big')
    await flush()
    expect(takeReady(executor)).toEqual([])
    clock.increment(30_000)
    expect(takeReady(executor)[0]?.[1]).toMatch(/^head .*Result truncated.*the store took longer than 30 s/s)
  })

  it('P10 a result that fits is not sent to the store', async () => {
    const store = keeping()
    expect((await resultWith(toolWith('short'), store)).content).toBe('short')
    expect(store.saved).toEqual([])
  })

  it('P10 data of any kind is stored as text, beyond the limit of what is shown', async () => {
    const store = keeping()
    const data = { list: Array.from({ length: 5_000 }, (_, n) => n) }
    await resultWith(toolWith(data), store)
    expect(JSON.parse(store.saved[0]?.text ?? '')).toEqual(data)
  })

  it('P10 the text of content blocks is stored, and other blocks stay', async () => {
    const image = { type: 'image', source: {} }
    const store = keeping()
    const { content } = await resultWith(toolWith([{ type: 'text', text: long }, image]), store)
    expect(content).toEqual([{ type: 'text', text: expect.stringContaining('/kept/1') }, image])
  })

  it('P10 a tool may set no limit for its results', async () => {
    const store = keeping()
    const tool = toolWith(long, { maxResultSizeChars: Number.POSITIVE_INFINITY })
    expect((await resultWith(tool, store)).content).toBe(long)
    expect(store.saved).toEqual([])
  })

  it('P10 an error result that is too long stays an error', async () => {
    const mapResult = (data: unknown, id: string): ToolResultBlock => ({
      type: 'tool_result',
      tool_use_id: id,
      content: String(data),
      is_error: true,
    })
    expect((await resultWith(toolWith(long, { mapResult }), keeping())).is_error).toBe(true)
  })

  it.each<[string, ResultStore['save'], string]>([
    ['rejects', () => Promise.reject(Object.assign(new Error('no space left'), { code: 'ENOSPC' })), 'no space left'],
    [
      'throws',
      () => {
        throw undefined
      },
      'threw undefined',
    ],
    ['returns nonsense', () => 'somewhere' as never, 'returned no path'],
    ['returns an empty path', () => ({ path: '' }), 'returned no path'],
    [
      'returns something that throws',
      () => new Proxy({}, { get: (_, key) => (key === 'then' ? undefined : raise()) }) as never,
      'returned no path',
    ],
  ])('P10 a store that %s: the result is truncated and says why', async (_, save, problem) => {
    const { content, is_error } = await resultWith(toolWith(long), { save })
    expect(content).toMatch(/^head .*Result truncated: only 5000 characters/s)
    expect(content).toContain(problem)
    expect(is_error).toBeUndefined()
  })

  it('P10 an invalid store is rejected', () => {
    expect(() => testTurn([], { resultStore: {} as never })).toThrow('resultStore: expected an object with save')
  })
})

function raise(): never {
  throw new Error('no')
}
