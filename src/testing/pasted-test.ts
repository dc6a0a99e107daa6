import { asCode, isWritable } from './as-code.ts'
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
