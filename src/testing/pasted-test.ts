import type { Breach } from './invariant.ts'
import { stuck } from './playable-world.ts'
import type { QuerySetup } from './query-setup.ts'
import type { TurnSetup } from './turn-setup.ts'

/** In the order of the generated test. */
const turnSettings = [
  'phases',
  'arrival',
  'happenings',
  'context',
  'options',
  'invariants',
  'state',
  'atEnd',
] as const satisfies (keyof TurnSetup)[]

const querySettings = [
  'happenings',
  'maxTroubles',
  'hasFallback',
  'context',
  'options',
  'executor',
  'invariants',
] as const satisfies (keyof QuerySetup)[]

/** A test to paste. It fails until the fault is fixed. Functions and instances appear by name; define them yourself. */
export const pastedTest = (setup: TurnSetup, story: readonly string[], breaches: readonly Breach[]): string =>
  testOf('replayTurn', story, breaches, [...linesOf(setup, turnSettings), ...listOf('calls', setup.calls)])

export const pastedQueryTest = (setup: QuerySetup, story: readonly string[], breaches: readonly Breach[]): string =>
  testOf('replayQuery', story, breaches, [...linesOf(setup, querySettings), ...listOf('replies', setup.replies)])

const linesOf = <Key extends string>(setup: { readonly [K in Key]?: unknown }, keys: readonly Key[]): string[] =>
  keys.flatMap((key) => {
    if (setup[key] === undefined) return []
    return [isWritable(setup[key]) ? `    ${key}: ${asCode(setup[key])},` : `    ${key}, // define this`]
  })

const listOf = (key: string, items: readonly unknown[]): string[] => [
  `    ${key}: [`,
  ...items.map((item) => `      ${asCode(item)},`),
  '    ],',
]

function testOf(
  replay: 'replayTurn' | 'replayQuery',
  story: readonly string[],
  [breach]: readonly Breach[],
  lines: readonly string[],
): string {
  return [
    `// import { ${replay} } from "signalbox/testing"`,
    `it(${asCode(`holds: ${breach?.invariant ?? ''}`)}, async () => {`,
    `  // ${oneLine(breach?.problem ?? '')}`,
    '  const setup = {',
    '    tools, // define this',
    ...lines,
    '  }',
    `  await ${replay}(setup, [`,
    ...story.map((move) => `    ${asCode(move)},`),
    breach?.invariant === stuck.invariant ? '  ], { mustEnd: true })' : '  ])',
    '})',
  ].join('\n')
}

const oneLine = (text: string): string => text.replaceAll(/[\r\n\u2028\u2029]+/g, ' ')

/** Whether a value can be written as source code: no functions, symbols or class instances. */
export function isWritable(value: unknown): boolean {
  if (typeof value === 'function' || typeof value === 'symbol') return false
  if (typeof value !== 'object' || value === null) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return false
  return Object.values(value).every(isWritable)
}

/** A value as source code. */
export function asCode(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'bigint') return `${value}n`
  if (Array.isArray(value)) return `[${value.map(asCode).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, each]) => each !== undefined)
    if (fields.length === 0) return '{}'
    return `{ ${fields.map(([key, each]) => `${keyOf(key)}: ${asCode(each)}`).join(', ')} }`
  }
  return Object.is(value, -0) ? '-0' : String(value)
}

// a plain __proto__ would set the prototype
const keyOf = (key: string): string =>
  key === '__proto__' ? "['__proto__']" : /^[a-z_$][\w$]*$/i.test(key) ? key : quoted(key)

const quoted = (text: string): string => {
  const inside = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${inside.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}'`
}
