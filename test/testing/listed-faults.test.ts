import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
type Fault = readonly [room: string, fault: string, from: string, to: string, test: string]

const lists = [
  ['journal-faults.mjs', 'journalFaults', 'sessions and journals'],
  ['scheduling-faults.mjs', 'schedulingFaults', 'keys, background calls and limits'],
] as const

describe('deliberate faults', () => {
  it.each(
    lists,
  )('Q4 of %s: each still fits the code, and the table says that all were found', async (file, list, what) => {
    const faults = ((await import(join(root, 'scripts/mutants', file))) as Record<string, readonly Fault[]>)[list] ?? []
    const page = readFileSync(join(root, 'docs/mutants.md'), 'utf8')
    expect(page).toContain(`${faults.length} of ${faults.length} faults in ${what} were found`)
    for (const [room, fault, from, to, test] of faults) {
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
