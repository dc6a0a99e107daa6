import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
type Fault = readonly [room: string, fault: string, from: string, to: string, test: string]

describe('deliberate faults in sessions and journals', () => {
  it('Q4 each still fits the code, and the table says that all were found', async () => {
    const { journalFaults } = (await import(join(root, 'scripts/mutants/journal-faults.mjs'))) as {
      journalFaults: readonly Fault[]
    }
    const page = readFileSync(join(root, 'docs/mutants.md'), 'utf8')
    expect(page).toContain(
      `${journalFaults.length} of ${journalFaults.length} faults in sessions and journals were found`,
    )
    for (const [room, fault, from, to, test] of journalFaults) {
      const names = readdirSync(join(root, room), { recursive: true, encoding: 'utf8' }).filter((name) =>
        name.endsWith('.ts'),
      )
      const times = names.map((name) => readFileSync(join(root, room, name), 'utf8').split(from).length - 1)
      expect([fault, times.filter((count) => count > 0)]).toEqual([fault, [1]])
      expect([fault, from === to]).toEqual([fault, false])
      expect(page).toMatch(new RegExp(`\\| ${fault.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')} \\| \`${test}\` \\|`))
    }
  })
})
