import { describe, expect, it } from 'vitest'
import { createAssistantMessage, createUserMessage } from '../../src/index.ts'
import { drain, testTurn, toolUse } from '../support/turn.ts'
import { collectWarnings, done, expectNoStrays, onlyOutcome, outcomes, raise, roughTool, textOf } from './support.ts'

expectNoStrays()

const returning = (value: unknown) => roughTool('Odd', async () => value)

function cycle(): Record<string, unknown> {
  const ring: Record<string, unknown> = { name: 'ring' }
  ring.self = ring
  return ring
}

function deep(levels: number): unknown {
  let value: unknown = 'bottom'
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

const trap = (): never => raise(new TypeError('trap'))

const data: [what: string, value: unknown, says: RegExp][] = [
  ['a cycle', cycle(), /ring/],
  ['a BigInt', 2n ** 70n, /1180591620717411303424/],
  ['an object with a BigInt', { size: 5n }, /5/],
  ['a function', () => 'secret', /./],
  ['undefined', undefined, /./],
  ['null', null, /./],
  ['an empty string', '', /./],
  ['an empty array', [], /./],
  ['zero', 0, /^0$/],
  ['false', false, /^false$/],
  ['NaN', Number.NaN, /NaN/],
  ['a symbol', Symbol('mark'), /mark/],
  ['a Map', new Map([['key', { inner: 'value' }]]), /key.*value/],
  ['a Set', new Set(['one', 'two']), /one.*two/],
  ['an Error', new RangeError('out of range'), /out of range/],
  ['a Date', new Date(0), /1970/],
  ['an invalid Date', new Date(Number.NaN), /./],
  ['a buffer', Buffer.alloc(1_000_000), /1000000/],
  ['an ArrayBuffer', new ArrayBuffer(16), /16/],
  ['lone surrogates', 'a\ud800b\udc00c', /a.*b.*c/],
  ['lone surrogates inside data', { text: 'a\ud800b' }, /a.*b/],
  ['something nested 100,000 deep', deep(100_000), /./],
  [
    'an object whose getters throw',
    {
      good: 'yes',
      get bad() {
        return trap()
      },
    },
    /yes/,
  ],
  ['an object whose toJSON throws', { toJSON: trap }, /./],
  ['a proxy whose traps throw', new Proxy({}, { ownKeys: trap, getPrototypeOf: trap, has: trap }), /./],
  ['an array with holes', new Array(3), /./],
  ['an array of a million holes', new Array(1_000_000), /./],
  ['blocks of which one is null', [{ type: 'text', text: 'kept' }, null], /kept/],
  ['a text block without text', [{ type: 'text' }], /text/],
]

describe('data of any kind', () => {
  it.each(data)('T8 %s becomes a result with a text that the API accepts', async (_, value, says) => {
    const { executor, add } = testTurn([returning({ data: value }), roughTool('Good', done)])
    add('a', 'Odd')
    add('b', 'Good')
    const [odd, good] = await outcomes(executor)
    expect(odd).toMatchObject({ id: 'a', isError: false })
    expect(odd === undefined ? '' : textOf(odd)).toMatch(says)
    expect(good).toMatchObject({ id: 'b', content: 'done' })
  })

  it('W3 the data itself reaches the user interface unchanged', async () => {
    const value = cycle()
    const { executor, add } = testTurn([returning({ data: value })])
    add('a', 'Odd')
    expect((await onlyOutcome(executor)).toolUseResult).toBe(value)
  })

  it('P10 a string of 50 MB is truncated, and says so', async () => {
    const { executor, add } = testTurn([returning({ data: '€'.repeat(50_000_000) })])
    add('a', 'Odd')
    const text = textOf(await onlyOutcome(executor))
    expect(text.length).toBeLessThan(51_000)
    expect(text.slice(50_000)).toMatch(/50000/)
  })

  it('P10 T8 a text truncated inside a surrogate pair stays well formed', async () => {
    const { executor, add } = testTurn([
      roughTool('Odd', async () => ({ data: '😀'.repeat(50) }), { maxResultSizeChars: 11 }),
    ])
    add('a', 'Odd')
    expect(textOf(await onlyOutcome(executor))).toContain('😀'.repeat(5))
  })

  it('P10 data with a million entries is truncated, and says so', async () => {
    const { executor, add } = testTurn([returning({ data: Array.from({ length: 1_000_000 }, (_, index) => index) })])
    add('a', 'Odd')
    const text = textOf(await onlyOutcome(executor))
    expect(text.length).toBeLessThan(51_000)
    expect(text.slice(50_000)).toMatch(/50000/)
  })

  it('T8 content blocks pass as they are', async () => {
    const blocks = [
      { type: 'text', text: 'see' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
    ]
    const { executor, add } = testTurn([returning({ data: blocks })])
    add('a', 'Odd')
    expect((await onlyOutcome(executor)).content).toEqual(blocks)
  })

  it('W3 a text block with a lone surrogate becomes one that the API accepts', async () => {
    const { executor, add } = testTurn([returning({ data: [{ type: 'text', text: 'a\ud800b' }] })])
    add('a', 'Odd')
    const { content } = await onlyOutcome(executor)
    expect(content).toEqual([{ type: 'text', text: 'a\ufffdb' }])
  })
})

describe('something other than { data }', () => {
  it.each([
    ['a string', 'plain text', /plain text/],
    ['a number', 42, /42/],
    ['an object without data', { output: 'here' }, /here/],
    ['an array', ['one', 'two'], /one.*two/],
    ['null', null, /./],
  ])('T7 %s is taken as the data, with a warning', async (_, value, says) => {
    const { executor, add } = testTurn([returning(value)])
    const warnings = collectWarnings(executor)
    add('a', 'Odd')
    const outcome = await onlyOutcome(executor)
    expect(outcome.isError).toBe(false)
    expect(textOf(outcome)).toMatch(says)
    expect(warnings.of('unexpected_return')).toHaveLength(1)
  })

  const unreadable: [string, () => unknown][] = [
    [
      'whose data throws when read',
      () => ({
        get data() {
          return trap()
        },
      }),
    ],
    [
      'whose newMessages throw when read',
      () => ({
        data: 'x',
        get newMessages() {
          return trap()
        },
      }),
    ],
    [
      'whose structuredOutput throws when read',
      () => ({
        data: 'x',
        get structuredOutput() {
          return trap()
        },
      }),
    ],
    [
      'whose contextModifier throws when read',
      () => ({
        data: 'x',
        get contextModifier() {
          return trap()
        },
      }),
    ],
    ['that is a proxy with a trap', () => new Proxy({}, { has: trap })],
    ['with a message that is a proxy with a trap', () => ({ data: 'x', newMessages: [new Proxy({}, { get: trap })] })],
  ]

  it.each(unreadable)('Y6 a result %s is one result, and the next call runs', async (_, make) => {
    const { executor, add } = testTurn([roughTool('Odd', async () => make()), roughTool('Good', done)])
    add('a', 'Odd')
    add('b', 'Good')
    expect((await outcomes(executor)).map(({ id }) => id)).toEqual(['a', 'b'])
  })

  it.each<[string, (data: Promise<string>) => unknown]>([
    ['a function', async (data) => ({ data })],
    [
      'a generator',
      async function* (data) {
        yield { type: 'result', data }
      },
    ],
  ])('T7 P8 data that %s did not await is awaited, and its failure is the failure of the call', async (_, call) => {
    const settle: { resolve(text: string): void; reject(error: Error): void }[] = []
    const body = () => call(new Promise((resolve, reject) => settle.push({ resolve, reject })))
    const { add, executor } = testTurn([roughTool('Odd', body, { isConcurrencySafe: () => true })])
    add('a', 'Odd')
    add('b', 'Odd')
    expect(await outcomes(executor)).toEqual([])
    settle[0]?.resolve('the late page')
    settle[1]?.reject(new RangeError('no such page'))
    const [first, second] = await outcomes(executor)
    expect(first).toMatchObject({ isError: false, content: 'the late page', toolUseResult: 'the late page' })
    expect(second).toMatchObject({ isError: true, content: expect.stringContaining('no such page') })
  })

  it.each(unreadable)('Y6 a result %s, returned without a promise, is one result too', async (_, make) => {
    const { executor, add } = testTurn([roughTool('Odd', make), roughTool('Good', done)])
    add('a', 'Odd')
    add('b', 'Good')
    expect((await outcomes(executor)).map(({ id }) => id)).toEqual(['a', 'b'])
  })

  it.each([
    ['a string', 'hello'],
    ['a list with a hole', [null]],
    ['a message of no known type', [{ type: 'shout' }]],
    ['a number', 5],
    ['a message of the user without content', [{ type: 'user', uuid: 'u' }]],
    ['a message of the user with nothing in it', [createUserMessage(' ')]],
    ['a reply whose content is no list', [{ type: 'assistant', message: { id: 'm', content: 'hm' } }]],
    ['a message with a block that is none', [createUserMessage([null as never])]],
    ['an attachment without an attachment', [{ type: 'attachment' }]],
    ['a call that nobody answers', [createAssistantMessage([toolUse('x', 'Read')])]],
    ['a second result', [createUserMessage([{ type: 'tool_result', tool_use_id: 'a', content: 'again' }])]],
  ])('W5 Y6 newMessages that are %s are ignored, with a warning', async (_, newMessages) => {
    const { executor, add } = testTurn([returning({ data: 'done', newMessages })])
    const warnings = collectWarnings(executor)
    add('a', 'Odd')
    expect(await onlyOutcome(executor)).toMatchObject({ content: 'done', isError: false })
    expect(warnings.of('invalid_new_messages')).toHaveLength(1)
  })

  it('W5 newMessages with a call and its result are delivered', async () => {
    const newMessages = [
      createAssistantMessage([toolUse('x', 'Read')]),
      createUserMessage([{ type: 'tool_result', tool_use_id: 'x', content: 'the text' }]),
    ]
    const { executor, add } = testTurn([returning({ data: 'done', newMessages })])
    add('a', 'Odd')
    expect((await drain(executor)).map(({ message }) => message).slice(1)).toEqual(newMessages)
  })
})
