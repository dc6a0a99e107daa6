import { describe, expect, it } from 'vitest'
import { classifyToolError } from '../../src/index.ts'
import { flush, testTurn } from '../support/turn.ts'
import { done, expectNoStrays, onlyOutcome, outcomes, raise, roughTool, textOf } from './support.ts'

expectNoStrays()

const trap = (): never => raise(new Error('trap'))

const throwing = (): object =>
  new Proxy({}, { get: trap, has: trap, ownKeys: trap, getPrototypeOf: trap, getOwnPropertyDescriptor: trap })

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

function withGetters(): Error {
  const error = new Error('hidden')
  // the stack first: V8 builds it from the name and the message
  for (const key of ['stack', 'name', 'message', 'code', 'cause', 'telemetryMessage']) {
    Object.defineProperty(error, key, { get: trap, enumerable: true })
  }
  return error
}

function withCycle(): Error {
  const error: Error & { self?: unknown } = new Error('round and round')
  error.cause = error
  error.self = error
  return error
}

const things: [what: string, make: () => unknown, says: RegExp][] = [
  ['undefined', () => undefined, /undefined/],
  ['null', () => null, /null/],
  ['a string', () => 'disk full', /disk full/],
  ['an empty string', () => '', /./],
  ['a number', () => 42, /42/],
  ['NaN', () => Number.NaN, /NaN/],
  ['a BigInt', () => 42n, /42/],
  ['a symbol', () => Symbol('oops'), /oops/],
  ['a function', () => () => 'never mind', /./],
  ['a frozen object', () => Object.freeze({ code: 'EDISK', hint: 'full' }), /full/],
  ['an object without prototype', () => Object.assign(Object.create(null), { hint: 'full' }), /full/],
  ['a frozen error', () => Object.freeze(new TypeError('disk full')), /disk full/],
  ['a proxy whose traps throw', throwing, /./],
  ['a revoked proxy', revoked, /./],
  ['an error whose getters throw', withGetters, /./],
  ['an error that is its own cause', withCycle, /round and round/],
  ['an error without a message', () => new Error(), /Error/],
  ['an error whose message is an object', () => Object.assign(new Error(), { message: { deep: 'inside' } }), /inside/],
  ['an error with a huge message', () => new Error('x'.repeat(5_000_000)), /x/],
  ['an AbortError nobody asked for', () => new DOMException('aborted', 'AbortError'), /aborted/],
  ['a buffer', () => new Uint8Array(8), /8/],
  ['a cycle', () => withCycle().cause, /round and round/],
]

describe.each(things)('P8 a tool that throws %s', (_, make, says) => {
  const bodies: [string, () => unknown][] = [
    ['as a rejection', async () => raise(make())],
    ['synchronously', () => raise(make())],
    [
      'from a generator',
      async function* () {
        yield { type: 'progress', data: 'so far so good' }
        raise(make())
      },
    ],
  ]

  it.each(bodies)('%s: one error result of bounded size, and the next call runs', async (_how, body) => {
    const { executor, add } = testTurn([roughTool('Bad', body), roughTool('Good', done)])
    add('a', 'Bad')
    add('b', 'Good')
    const [bad, good, ...rest] = await outcomes(executor)
    expect(rest).toEqual([])
    expect(bad).toMatchObject({ id: 'a', isError: true })
    expect(good).toMatchObject({ id: 'b', isError: false, content: 'done' })
    const text = bad === undefined ? '' : textOf(bad)
    expect(text).toMatch(/^<tool_use_error>.+<\/tool_use_error>$/s)
    expect(text).toMatch(says)
    expect(text.length).toBeLessThan(20_000)
  })

  it('still gives telemetry a label', () => {
    expect(classifyToolError(make())).toMatch(/^\w+$/)
  })
})

describe('the text of an error', () => {
  it.each([
    ['a lone surrogate', 'bad \ud800 text'],
    ['a pair that stands where a long message is cut', `x${'😀'.repeat(10_000)}`],
  ])('W3 P8 an error message with %s becomes text that the API accepts', async (_, message) => {
    const { executor, add } = testTurn([roughTool('Bad', async () => raise(new TypeError(message)))])
    add('a', 'Bad')
    const { content } = await onlyOutcome(executor)
    expect(String(content).isWellFormed()).toBe(true)
  })

  it('P8 an error of an unknown kind includes the top of its stack trace, a known one does not', async () => {
    const { executor, add } = testTurn([
      roughTool('Odd', async () => raise(new Error('odd'))),
      roughTool('Known', async () => raise(Object.assign(new Error('no such file'), { code: 'ENOENT' }))),
    ])
    add('a', 'Odd')
    add('b', 'Known')
    const [odd, known] = await outcomes(executor)
    expect(odd?.content).toMatch(/odd\n\s+at /)
    expect(known?.content).not.toMatch(/\n\s+at /)
  })

  it('P8 a thenable that settles twice, both ways: the first counts', async () => {
    const { executor, add } = testTurn([
      roughTool('Twice', () => ({
        // biome-ignore lint/suspicious/noThenProperty: a thenable is the point
        then(resolve: (value: unknown) => void, reject: (error: unknown) => void) {
          resolve({ data: 'first' })
          reject(new Error('second'))
          raise(new Error('third'))
        },
      })),
    ])
    add('a', 'Twice')
    expect(await onlyOutcome(executor)).toMatchObject({ content: 'first', isError: false })
    await flush()
    expect(await outcomes(executor)).toEqual([])
  })
})
