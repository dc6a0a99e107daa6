import { asCode, isWritable } from './as-code.ts'
import type { Breach } from './invariant.ts'
import { stuck } from './playable-world.ts'
import type { TurnSetup } from './turn-setup.ts'

/** In the order in which a person would write them. */
const settings = [
  'phases',
  'arrival',
  'happenings',
  'context',
  'options',
  'invariants',
  'state',
  'atEnd',
] as const satisfies (keyof TurnSetup)[]

/** A test to paste, which fails until the fault is gone. What is code of yours it names, and you hand in. */
export function pastedTest(setup: TurnSetup, story: readonly string[], breaches: readonly Breach[]): string {
  const [breach] = breaches
  const lines = settings.flatMap((key) => {
    if (setup[key] === undefined) return []
    return [isWritable(setup[key]) ? `    ${key}: ${asCode(setup[key])},` : `    ${key}, // yours`]
  })
  return [
    "// import { replayTurn } from 'signalbox/testing'",
    `it(${asCode(`holds: ${breach?.invariant ?? ''}`)}, async () => {`,
    `  // ${oneLine(breach?.problem ?? '')}`,
    '  const setup = {',
    '    tools, // yours',
    ...lines,
    '    calls: [',
    ...setup.calls.map((call) => `      ${asCode(call)},`),
    '    ],',
    '  }',
    '  await replayTurn(setup, [',
    ...story.map((move) => `    ${asCode(move)},`),
    breach?.invariant === stuck.invariant ? '  ], { mustEnd: true })' : '  ])',
    '})',
  ].join('\n')
}

const oneLine = (text: string): string => text.replaceAll(/[\r\n\u2028\u2029]+/g, ' ')
