import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

describe('deliberate faults', () => {
  it('Q4 Y1 A1 P5: three of them, different ones every day, are found', { timeout: 1_800_000 }, () => {
    const printed = execFileSync(process.execPath, ['scripts/mutants/run.mjs', '--few', '3'], {
      cwd: root,
      encoding: 'utf8',
    })
    expect(printed).toContain('3 of 3 were found')
  })

  it('Q4 are at least forty, and the table says that all were found', async () => {
    const { mutants } = (await import(join(root, 'scripts/mutants/mutants.mjs'))) as { mutants: { fault: string }[] }
    expect(mutants.length).toBeGreaterThanOrEqual(40)
    const page = readFileSync(join(root, 'docs/mutants.md'), 'utf8')
    expect(page).toContain(`${mutants.length} of ${mutants.length} were found`)
    for (const { fault } of mutants) expect(page).toContain(`| ${fault} |`)
  })
})
