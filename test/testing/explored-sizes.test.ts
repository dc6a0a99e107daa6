import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { exploreTurn, heldTool, type TurnSetup } from '../../src/testing/index.ts'

const page = readFileSync(resolve(import.meta.dirname, '../../docs/testing.md'), 'utf8')
const tools = [heldTool('Read', { safe: true }).tool, heldTool('Edit').tool]
const happenings = { progress: false, interrupt: false, time: false, reader: false, reading: false }

// the other row of the table would take half a minute
it.each<[turn: string, names: readonly string[], phases: TurnSetup['phases']]>([
  ['three calls with all phases: two safe, then an unsafe one', ['Read', 'Read', 'Edit'], 'all'],
  ['five calls, bodies only: two safe, an unsafe one, two safe', ['Read', 'Read', 'Edit', 'Read', 'Read'], 'bodies'],
])(
  'Y6 the page on testing says how large %s is',
  async (turn, names, phases) => {
    const calls = names.map((tool) => ({ tool }))
    const { states, transitions } = await exploreTurn({ tools, calls, phases, arrival: 'together', happenings })
    const [shown, through] = [states, transitions].map((count) => count.toLocaleString('en'))
    expect(page).toContain(`| ${turn} | ${shown} | ${through} |`)
  },
  60_000,
)
