import { describe, expect, it } from 'vitest'
import type { ResultStore } from '../../src/index.ts'
import { charsOf } from '../../src/results/chars-of.ts'
import { heldTool } from '../support/held-tool.ts'
import { drain, flush, resultOf, takeAll, testTurn } from '../support/turn.ts'
import { collectWarnings, expectNoStrays, outcomeOf, roughTool } from './support.ts'

expectNoStrays()

const long = 'x'.repeat(200_000)
const isConcurrencySafe = () => true
const raw = roughTool('Raw', async () => ({ data: { long } }), {
  isConcurrencySafe,
  mapResult: ({ long: text }: { long: string }, id: string) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: text.slice(0, 10_000),
  }),
})

/** The characters that an executor holds for its readers, counted from outside by what they get. */
const charsHeld = (updates: ReturnType<typeof takeAll>): number => charsOf(updates.map(({ message }) => message))

async function unread(options: { maxUnreadChars: number; resultStore?: ResultStore }, tools = [raw]) {
  const turn = testTurn(tools, options)
  const warnings = collectWarnings(turn.executor)
  for (let n = 0; n < 30; n++) turn.add(`r${n}`, tools[0]?.name ?? '')
  await flush()
  return { ...turn, warnings }
}

/** Keeps each text under the id of its call. */
function keeper(): { store: ResultStore; texts: Map<string, string> } {
  const texts = new Map<string, string>()
  const save: ResultStore['save'] = async ({ toolUseID, text }) => {
    texts.set(toolUseID, text)
    return { path: `/kept/${toolUseID}` }
  }
  return { store: { save }, texts }
}

describe('results that nobody reads', () => {
  it('P10 beyond maxUnreadChars lose their raw data, each with a warning; the model sees all of its text', async () => {
    const { executor, warnings } = await unread({ maxUnreadChars: 1_000_000 })
    const updates = takeAll(executor)
    expect(charsHeld(updates)).toBeLessThan(1_000_000 + 30 * 11_000)
    const outcomes = updates.map(outcomeOf)
    expect(outcomes.map(({ content }) => content)).toEqual(Array(30).fill(long.slice(0, 10_000)))
    const kept = outcomes.filter(({ toolUseResult }) => toolUseResult !== undefined)
    expect(kept.map(({ id }) => id)).toEqual(['r0', 'r1', 'r2', 'r3'])
    expect(warnings.of('unread_results')).toHaveLength(26)
  })

  /** Field name, raw text and the text for the model. */
  const chars = 30 * (4 + 200_000 + 10_000)

  it('P10 one character beyond it is too many', async () => {
    expect((await unread({ maxUnreadChars: chars - 1 })).warnings.of('unread_results')).toHaveLength(1)
  })

  it('P10 within maxUnreadChars stay whole', async () => {
    const { executor, warnings } = await unread({ maxUnreadChars: chars })
    expect(
      takeAll(executor)
        .map(outcomeOf)
        .map(({ toolUseResult }) => toolUseResult),
    ).toEqual(Array(30).fill({ long }))
    expect(warnings.all).toEqual([])
  })

  it('P10 beyond it go to the store: the model gets the place, and the whole text is there', async () => {
    const { store, texts } = keeper()
    const { executor, warnings } = await unread({ maxUnreadChars: 500_000, resultStore: store })
    const updates = takeAll(executor)
    expect(charsHeld(updates)).toBeLessThan(500_000 + 30 * 5_000)
    const [first, ...others] = updates.map(outcomeOf)
    expect(first?.toolUseResult).toEqual({ long })
    const stored = others.filter(({ id }) => texts.has(id))
    expect(stored).toHaveLength(28)
    for (const { id, content } of stored) {
      expect(content).toContain(`The whole result is in /kept/${id}`)
      expect(content).toContain('because too many results were waiting')
      expect(texts.get(id)).toBe(long.slice(0, 10_000))
    }
    expect(warnings.of('unread_results')).toHaveLength(28)
  })

  it('P10 a store that fails costs no text', async () => {
    const resultStore: ResultStore = { save: () => Promise.reject(new Error('full')) }
    const { executor, warnings } = await unread({ maxUnreadChars: 0, resultStore })
    expect(takeAll(executor).map((update) => resultOf(update).content)).toEqual(Array(30).fill(long.slice(0, 10_000)))
    expect(warnings.of('unread_results').map(({ error }) => String(error))).toEqual(Array(30).fill('Error: full'))
  })

  it('P10 a store that names no place costs no text', async () => {
    const { executor } = await unread({ maxUnreadChars: 0, resultStore: { save: () => ({}) as never } })
    expect(takeAll(executor).map((update) => resultOf(update).content)).toEqual(Array(30).fill(long.slice(0, 10_000)))
  })

  it('P10 Y5 a store that answers when the result was read changes nothing', async () => {
    let answer = (_: { path: string }): void => undefined
    const resultStore: ResultStore = { save: () => new Promise((resolve) => (answer = resolve)) }
    const { executor } = await unread({ maxUnreadChars: 0, resultStore })
    const updates = takeAll(executor)
    answer({ path: '/late' })
    await flush()
    expect(updates.map((update) => resultOf(update).content)).toEqual(Array(30).fill(long.slice(0, 10_000)))
    expect(takeAll(executor)).toEqual([])
  })

  it('P10 short texts do not trouble the store', async () => {
    const { store, texts } = keeper()
    const short = roughTool('Short', async () => ({ data: { long } }), {
      isConcurrencySafe,
      mapResult: (_: unknown, id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'short' }),
    })
    const { executor } = await unread({ maxUnreadChars: 0, resultStore: store }, [short])
    expect(texts.size).toBe(0)
    expect(charsHeld(takeAll(executor))).toBeLessThan(30 * 500)
  })

  it('P10 what was read makes room again', async () => {
    const { add, executor, warnings } = await unread({ maxUnreadChars: chars })
    takeAll(executor)
    for (let n = 0; n < 30; n++) add(`s${n}`, 'Raw')
    await flush()
    expect(
      takeAll(executor)
        .map(outcomeOf)
        .every(({ toolUseResult }) => toolUseResult !== undefined),
    ).toBe(true)
    expect(warnings.all).toEqual([])
  })

  it('P10 a result that a reader waits for is not counted', async () => {
    const turn = testTurn([raw], { maxUnreadChars: 0 })
    const warnings = collectWarnings(turn.executor)
    turn.add('a', 'Raw')
    const updates = await drain(turn.executor)
    expect(updates.map(outcomeOf)).toMatchObject([{ toolUseResult: { long } }])
    expect(warnings.all).toEqual([])
  })

  it('P10 Y7 the context changes all the same, when its turn comes', async () => {
    const first = heldTool('First', { safe: true })
    const change = roughTool(
      'Change',
      async () => ({ data: { long }, contextModifier: (context: object) => ({ ...context, changed: true }) }),
      { isConcurrencySafe },
    )
    const turn = testTurn([first.tool, change], { maxUnreadChars: 0 })
    turn.add('a', 'First')
    turn.add('b', 'Change')
    await flush()
    first.run('a').finish()
    await flush()
    expect(takeAll(turn.executor).at(-1)?.newContext).toMatchObject({ changed: true })
  })

  it('P10 the option is checked', () => {
    expect(() => testTurn([raw], { maxUnreadChars: -1 })).toThrow('maxUnreadChars')
  })
})

describe('the size of data in characters', () => {
  it.each([
    ['text', 'four', 4],
    ['numbers', [1, 2], 16],
    ['fields', { ab: 'cd' }, 4],
    ['binary data', [new Uint8Array(10), new ArrayBuffer(10)], 10],
    ['maps', new Map([['ab', 'c']]), 3],
    ['sets', new Set(['ab']), 2],
    ['nothing', undefined, 8],
  ])('counts %s', (_, data, chars) => {
    expect(charsOf(data)).toBe(chars)
  })

  it('ends where data contains itself, and where it throws', () => {
    const data: Record<string, unknown> = { text: 'abc' }
    data.self = data
    expect(charsOf(data)).toBe('text'.length + 'abc'.length + 'self'.length)
    expect(
      charsOf({
        get broken() {
          throw new Error('no')
        },
      }),
    ).toBe(0)
  })
})
