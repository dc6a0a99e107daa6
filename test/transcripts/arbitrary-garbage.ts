import fc from 'fast-check'

const throwing = <Value extends object>(target: Value, traps: (keyof ProxyHandler<Value>)[]): Value =>
  new Proxy(
    target,
    Object.fromEntries(
      traps.map((trap) => [
        trap,
        () => {
          throw new Error(`no ${trap}`)
        },
      ]),
    ),
  )

/** Hostile values, some of them partly readable. */
const makers: (() => unknown)[] = [
  () => throwing({}, ['get']),
  () => throwing({ role: 'user', content: 'hi' }, ['ownKeys']),
  () => throwing({ role: 'user', content: [{ type: 'text', text: '' }] }, ['ownKeys']),
  () => throwing({ type: 'tool_use', id: 'a.b', name: 'Read', input: {} }, ['ownKeys']),
  () => throwing({ type: 'tool_result', tool_use_id: 'a.b', content: 'x' }, ['ownKeys', 'getOwnPropertyDescriptor']),
  () => throwing(['a'], ['get']),
  () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  },
  () => {
    const { proxy, revoke } = Proxy.revocable([], {})
    revoke()
    return proxy
  },
  () => ({
    role: 'user',
    get content(): unknown {
      throw new Error('no content')
    },
  }),
  () => {
    const cycle: Record<string, unknown> = { role: 'assistant' }
    cycle.content = [cycle, { type: 'tool_use', id: 'c', name: 'Read', input: cycle }]
    return cycle
  },
  () => {
    const list: unknown[] = [{ type: 'text', text: 'x' }]
    list.push(list)
    return { role: 'user', content: list }
  },
  () => ({ type: 'attachment', attachment: throwing({ type: 'note' }, ['ownKeys']) }),
  () => ({ type: 'attachment', attachment: null }),
  () => ({ type: 'attachment', attachment: { type: Symbol('note') } }),
  () => Object.freeze({ role: 'user', content: Object.freeze([Object.freeze({ type: 'text', text: '' })]) }),
  () => new Array(3),
  () => throwing({ type: 'progress' }, ['get']),
  () => ({
    type: 'progress',
    get uuid(): unknown {
      throw new Error('no uuid')
    },
  }),
  () => ({
    type: 'system',
    subtype: 'model_retry',
    get discarded(): unknown {
      throw new Error('no list')
    },
  }),
  () =>
    Object.defineProperty([{ type: 'text', text: 'x' }], 1, {
      get() {
        throw new Error('no item')
      },
    }),
]

/** A placeholder for a hostile value until the test begins, because the generator reads its values. */
class Hostile {
  readonly number: number

  constructor(number: number) {
    this.number = number
  }
}

const hostile = fc.nat(makers.length - 1).map((number) => new Hostile(number))

/** With the hostile values in place. */
export function bring(value: unknown): unknown {
  if (value instanceof Hostile) return makers[value.number]?.()
  if (Array.isArray(value)) return Array.from(value, bring)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, bring(item)]))
}

const scalar = fc.constantFrom<unknown[]>(
  null,
  undefined,
  0,
  7,
  '',
  ' ',
  'text',
  true,
  Symbol('s'),
  10n,
  Number.NaN,
  {},
  [],
)

const id = fc.constantFrom<unknown[]>('a', 'b', 'c', 'a.b', '', 5, '5', null, undefined, {})

/** Valid, nearly valid and invalid blocks. */
const block = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record(
      { type: fc.constant('tool_use'), id, name: nameOf(), input: inputOf() },
      { requiredKeys: ['type'] },
    ),
  },
  {
    weight: 4,
    arbitrary: fc.record(
      { type: fc.constant('tool_result'), tool_use_id: id, content: resultOf(), is_error: fc.boolean() },
      { requiredKeys: ['type'] },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('text'), text: fc.constantFrom<unknown[]>('hi', '', ' ', 3) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom('thinking', 'server_tool_use', 'image') }) },
  { weight: 1, arbitrary: scalar },
  { weight: 1, arbitrary: hostile },
)

function nameOf(): fc.Arbitrary<unknown> {
  return fc.constantFrom<unknown[]>('Read', '', 'x'.repeat(300), null)
}

function inputOf(): fc.Arbitrary<unknown> {
  return fc.oneof(fc.constant({}), fc.constantFrom<unknown[]>([], 'text', null), hostile)
}

function resultOf(): fc.Arbitrary<unknown> {
  return fc.oneof(fc.constantFrom<unknown[]>('ok', '', null, 3, [], ['x', null]), hostile)
}

const content = fc.oneof(
  { weight: 6, arbitrary: fc.array(block, { maxLength: 4 }) },
  { weight: 1, arbitrary: scalar },
  { weight: 1, arbitrary: hostile },
)

const role = fc.constantFrom<unknown[]>('user', 'assistant', 'assistant', 'system', 'tool', null)

const plain = fc.record({ role, content }, { requiredKeys: [] })

const replyId = fc.constantFrom<unknown[]>('m', 'n', '', 'msg_repaired', 3)

const own = fc.record(
  {
    type: fc.constantFrom<unknown[]>(
      'user',
      'assistant',
      'assistant',
      'progress',
      'attachment',
      'system',
      'summary',
      4,
    ),
    uuid: fc.constantFrom('u', 'v', 'w'),
    subtype: fc.constant('model_retry'),
    discarded: fc.constantFrom<unknown[]>(['u'], 'u', [undefined]),
    message: fc.oneof(
      { weight: 8, arbitrary: fc.record({ id: replyId, role, content }, { requiredKeys: ['content'] }) },
      { weight: 1, arbitrary: scalar },
    ),
    attachment: fc.constantFrom<unknown[]>({ type: 'note', content: 'x' }, {}, null),
  },
  { requiredKeys: ['type'] },
)

const rubbish = fc.oneof(scalar, hostile, fc.anything())

/** Arrays of anything, mostly shaped like messages of one form, the other, or both. */
export const garbage: fc.Arbitrary<unknown[]> = fc.oneof(
  fc.array(fc.oneof({ weight: 8, arbitrary: plain }, { weight: 1, arbitrary: rubbish }), { maxLength: 10 }),
  fc.array(fc.oneof({ weight: 8, arbitrary: own }, { weight: 1, arbitrary: rubbish }), { maxLength: 10 }),
  fc.array(fc.oneof(plain, own, rubbish), { maxLength: 10 }),
)
