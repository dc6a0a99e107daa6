import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { heldTool } from '../support/held-tool.ts'
import { chartValue, flush, stateOf, testTurn } from '../support/turn.ts'
import { collectWarnings, done, expectNoStrays, onlyOutcome, outcomes, raise, roughTool, textOf } from './support.ts'

expectNoStrays()

const boom = (): never => raise(new TypeError('boom'))
const boomLater = async (): Promise<never> => boom()

const trouble: [string, () => unknown][] = [
  ['throws', boom],
  ['throws undefined', () => raise(undefined)],
  ['returns a promise that rejects', boomLater],
  ['returns nonsense', () => 'perhaps'],
]

describe('callbacks of a tool', () => {
  it.each(trouble)('T3 isConcurrencySafe %s: the call is unsafe', async (_, isConcurrencySafe) => {
    const odd = heldTool('Odd', { isConcurrencySafe: isConcurrencySafe as () => boolean })
    const { executor, add } = testTurn([odd.tool])
    add('a', 'Odd')
    add('b', 'Odd')
    expect(chartValue(executor).gate).toBe('exclusive')
    expect(odd.started).toEqual(['a'])
  })

  it.each(trouble)('T4 interruptBehavior %s: the call blocks', async (_, interruptBehavior) => {
    const odd = heldTool('Odd', { interruptBehavior: interruptBehavior as () => 'block' })
    const { executor, add, host } = testTurn([odd.tool])
    add('a', 'Odd')
    host.abort('interrupt')
    odd.run('a').finish()
    expect(await onlyOutcome(executor)).toMatchObject({ isError: false })
  })

  it.each(trouble)('T5 cancelsSiblingsOnError %s: no call is cancelled', async (_, cancelsSiblingsOnError) => {
    const odd = heldTool('Odd', { cancelsSiblingsOnError: cancelsSiblingsOnError as () => boolean })
    const { executor, add } = testTurn([odd.tool])
    add('a', 'Odd')
    add('b', 'Odd')
    odd.run('a').fail(new Error('no'))
    await flush()
    odd.run('b').finish()
    expect((await outcomes(executor)).map(({ isError }) => isError)).toEqual([true, false])
  })

  it.each(trouble)('T10 describe %s: the text for siblings has the name', async (_, describeCall) => {
    const odd = heldTool('Odd', { cancelsSiblingsOnError: true, describe: describeCall as () => string })
    const { executor, add } = testTurn([odd.tool])
    add('a', 'Odd')
    add('b', 'Odd')
    odd.run('a').fail(new Error('no'))
    const [own, sibling] = await outcomes(executor)
    expect(own?.content).toContain('Error: no')
    expect(sibling?.content).toMatch(/Cancelled: parallel tool call Odd.* errored/)
  })

  it.each(
    trouble,
  )('P3 validateInput or normalizeInput %s: an error result, nothing runs, the next call does', async (_, callback) => {
    const started: string[] = []
    const body = async () => void started.push('ran')
    const { executor, add } = testTurn([
      roughTool('Validates', body, { validateInput: callback }),
      roughTool('Normalizes', body, { normalizeInput: callback }),
      roughTool('Good', done),
    ])
    add('a', 'Validates')
    add('b', 'Normalizes')
    add('c', 'Good')
    const results = await outcomes(executor)
    expect(results.map(({ id, isError }) => [id, isError])).toEqual([
      ['a', true],
      ['b', true],
      ['c', false],
    ])
    expect(results.slice(0, 2).map(textOf).join()).toMatch(/InputValidationError/)
    expect(started).toEqual([])
  })
})

describe('schemas', () => {
  const cases: [string, z.ZodType, boolean][] = [
    ['a refinement that throws', z.looseObject({}).refine(boom), true],
    ['a refinement that throws undefined', z.looseObject({}).refine(() => raise(undefined)), true],
    ['a transform that throws', z.looseObject({ n: z.unknown().transform(boom) }), true],
    ['a default that throws', z.looseObject({ missing: z.string().default(boom) }), true],
    ['an asynchronous refinement that says yes', z.looseObject({}).refine(async () => true), false],
    ['an asynchronous refinement that says no', z.looseObject({}).refine(async () => false, 'not today'), true],
    ['an asynchronous refinement that rejects', z.looseObject({}).refine(boomLater), true],
    ['an asynchronous transform', z.looseObject({ n: z.string().transform(async () => 5) }), false],
  ]

  it.each(cases)('P2 Q2 %s: one result, and the next call runs', async (_, inputSchema, isError) => {
    const { executor, add } = testTurn([roughTool('Odd', done, { inputSchema }), roughTool('Good', done)])
    expect(() => add('a', 'Odd', { n: 'x' })).not.toThrow()
    add('b', 'Good')
    const results = await outcomes(executor)
    expect(results.map((result) => [result.id, result.isError])).toEqual([
      ['a', isError],
      ['b', false],
    ])
    if (isError) expect(results[0]?.content).toContain('InputValidationError')
  })

  it('P2 the words of an asynchronous refinement reach the model', async () => {
    const inputSchema = z.looseObject({}).refine(async () => false, 'not today')
    const { executor, add } = testTurn([roughTool('Odd', done, { inputSchema })])
    add('a', 'Odd')
    expect((await onlyOutcome(executor)).content).toContain('not today')
  })

  it('A4 an asynchronous refinement that never answers ends with the abort', async () => {
    const inputSchema = z.looseObject({}).refine(() => new Promise<boolean>(() => undefined))
    const { executor, add } = testTurn([roughTool('Odd', done, { inputSchema })])
    add('a', 'Odd')
    await flush()
    expect(stateOf(executor, 'a')).toBe('executing')
    executor.abort('escape')
    expect(await onlyOutcome(executor)).toMatchObject({ id: 'a', isError: true })
  })

  it('T3 an asynchronous schema makes a call unsafe, because its input may be invalid', async () => {
    const odd = heldTool('Odd', { safe: true, inputSchema: z.looseObject({}).refine(async () => true) })
    const { executor, add } = testTurn([odd.tool])
    add('a', 'Odd')
    add('b', 'Odd')
    await flush()
    expect(chartValue(executor).gate).toBe('exclusive')
    expect(odd.started).toEqual(['a'])
  })
})

describe('context modifiers', () => {
  it.each([
    ['throws', boom],
    ['throws undefined', () => raise(undefined)],
    ['returns nothing', () => undefined],
    ['returns a string', () => 'context'],
    ['returns a promise', async () => ({})],
    ['returns a promise that rejects', boomLater],
    ['is no function', 'modify'],
  ])('Y7 a modifier that %s is ignored with a warning; the result stays', async (_, contextModifier) => {
    const seen: unknown[] = []
    const { executor, add } = testTurn(
      [
        roughTool('Odd', async () => ({ data: 'done', contextModifier })),
        roughTool('Next', async (_input, { mark, options }) => {
          seen.push(mark, options.tools.length)
          return { data: 'next' }
        }),
      ],
      { context: { mark: 'original' } },
    )
    const warnings = collectWarnings(executor)
    add('a', 'Odd')
    add('b', 'Next')
    expect((await outcomes(executor)).map(({ content }) => content)).toEqual(['done', 'next'])
    expect(seen).toEqual(['original', 2])
    expect(warnings.of('context_modifier_failed')).toHaveLength(1)
  })
})

describe('the host', () => {
  it.each([
    ['throws', boom],
    ['throws undefined', () => raise(undefined)],
    ['rejects', boomLater],
  ])('Y8 an indicator that %s: each call has its result, with a warning', async (_, callback) => {
    const fetch = heldTool('Fetch', { safe: true, cancel: true })
    const { executor, add } = testTurn([fetch.tool], {
      context: { setInProgressToolUseIDs: callback, setHasInterruptibleToolInProgress: callback },
    })
    const warnings = collectWarnings(executor)
    expect(() => add('a', 'Fetch')).not.toThrow()
    add('b', 'Fetch')
    fetch.run('a').finish()
    fetch.run('b').finish()
    expect((await outcomes(executor)).map(({ id }) => id)).toEqual(['a', 'b'])
    expect(warnings.of('host_callback_failed').length).toBeGreaterThan(0)
  })

  it('Y6 a uuid that throws: each call still has its result', async () => {
    const { executor, add } = testTurn([roughTool('Good', done)], { uuid: boom })
    add('a', 'Good')
    add('b', 'Nope')
    expect((await outcomes(executor)).map(({ id }) => id)).toEqual(['a', 'b'])
  })

  it.each([
    ['throws', boom],
    ['rejects', boomLater],
  ])('P11 a listener that %s affects neither the turn nor the other listeners', async (_, listener) => {
    const read = heldTool('Read')
    const { executor, add } = testTurn([read.tool])
    executor.on('warning', listener)
    const warnings = collectWarnings(executor)
    add('a', 'Read')
    read.run('a').finish()
    await flush()
    expect(() => read.run('a').progress('late')).not.toThrow()
    expect(warnings.of('late')).toHaveLength(1)
    expect(await onlyOutcome(executor)).toMatchObject({ id: 'a', isError: false })
  })

  it('P11 a removed listener gets no more events', async () => {
    const read = heldTool('Read')
    const { executor, add } = testTurn([read.tool])
    let heard = 0
    const off = executor.on('warning', () => heard++)
    add('a', 'Read')
    read.run('a').finish()
    await flush()
    read.run('a').progress('late')
    off()
    off()
    read.run('a').progress('later')
    expect(heard).toBe(1)
  })
})
