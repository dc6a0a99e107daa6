import { frameLine } from '../inspect/index.ts'
import type { Breach } from './invariant.ts'
import { breachesInWords } from './invariant.ts'
import { recordStory } from './record-story.ts'
import type { Broken } from './shrink-story.ts'
import { idOf, type PlannedCall, type TurnSetup } from './turn-setup.ts'

/** What did not hold, and the shortest way there. */
export interface FoundStory {
  readonly breaches: readonly Breach[]
  readonly story: readonly string[]
  /** The turn as it was when it broke: with no more calls than it takes. */
  readonly setup: TurnSetup
  /** For people. */
  readonly text: string
  /** A test to paste: it fails until the fault is gone. */
  readonly test: string
  /** The story as a recording for the inspector: one frame a line. */
  recording(): Promise<string>
}

export function foundStory(whole: TurnSetup, { setup, story, breaches }: Broken): FoundStory {
  return {
    breaches,
    story,
    setup,
    text: [
      breachesInWords(breaches),
      ...setup.calls.map((call, index) => `   ${callInWords(call, index)}`),
      ...story.map((move, index) => `${String(index + 1).padStart(2)}. ${move}`),
    ].join('\n'),
    test: testOf(whole, setup, story, breaches),
    recording: async () => (await recordStory(setup, story)).map(frameLine).join(''),
  }
}

const callInWords = (call: PlannedCall, index: number): string =>
  `${idOf(call, index)} = ${call.tool}(${JSON.stringify(call.input ?? {})})${call.hold === true ? ', held' : ''}`

function testOf(whole: TurnSetup, setup: TurnSetup, story: readonly string[], breaches: readonly Breach[]): string {
  const { phases, arrival, options } = whole
  const settings = [
    ...(phases === undefined ? [] : [`    phases: ${literal(phases)},`]),
    ...(arrival === undefined ? [] : [`    arrival: ${literal(arrival)},`]),
    ...(options === undefined ? [] : [`    options: ${literal(options)},`]),
  ]
  return [
    `it(${literal(`holds: ${breaches[0]?.invariant ?? ''}`)}, async () => {`,
    `  // ${breaches[0]?.problem ?? ''}`,
    '  const setup = {',
    '    tools, // yours',
    ...settings,
    '    calls: [',
    ...setup.calls.map((call) => `      ${literal(call)},`),
    '    ],',
    '  }',
    '  await replayTurn(setup, [',
    ...story.map((move) => `    ${literal(move)},`),
    '  ])',
    '})',
  ].join('\n')
}

/** As it is written in code; what cannot be written is left out. */
function literal(value: unknown): string {
  if (typeof value === 'string')
    return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, each]) => each !== undefined && typeof each !== 'function')
    if (fields.length === 0) return '{}'
    return `{ ${fields.map(([key, each]) => `${/^[a-z_$][\w$]*$/i.test(key) ? key : literal(key)}: ${literal(each)}`).join(', ')} }`
  }
  return String(value)
}
