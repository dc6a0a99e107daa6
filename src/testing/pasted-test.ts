import { asCode, isWritable } from './as-code.ts'
import type { Breach } from './invariant.ts'
import { stuck } from './playable-world.ts'
import type { QuerySetup } from './query-setup.ts'
import type { TurnSetup } from './turn-setup.ts'

/** In the order in which a person would write them. */
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

/** A test to paste, which fails until the fault is gone. What is code of yours it names, and you hand in. */
export const pastedTest = (setup: TurnSetup, story: readonly string[], breaches: readonly Breach[]): string =>
  testOf('replayTurn', story, breaches, [...linesOf(setup, turnSettings), ...listOf('calls', setup.calls)])

export const pastedQueryTest = (setup: QuerySetup, story: readonly string[], breaches: readonly Breach[]): string =>
  testOf('replayQuery', story, breaches, [...linesOf(setup, querySettings), ...listOf('replies', setup.replies)])

const linesOf = <Key extends string>(setup: { readonly [K in Key]?: unknown }, keys: readonly Key[]): string[] =>
  keys.flatMap((key) => {
    if (setup[key] === undefined) return []
    return [isWritable(setup[key]) ? `    ${key}: ${asCode(setup[key])},` : `    ${key}, // yours`]
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
    '    tools, // yours',
    ...lines,
    '  }',
    `  await ${replay}(setup, [`,
    ...story.map((move) => `    ${asCode(move)},`),
    breach?.invariant === stuck.invariant ? '  ], { mustEnd: true })' : '  ])',
    '})',
  ].join('\n')
}

const oneLine = (text: string): string => text.replaceAll(/[\r\n\u2028\u2029]+/g, ' ')
