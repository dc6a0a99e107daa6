import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { callKinds, crashEverywhere, type Outcome } from '../support/crash-matrix.ts'

const rows = async (): Promise<string[]> => {
  const table = ['| call | the log ends with | body runs: before, after | question | result |', '|---|---|---|---|---|']
  for (const kind of callKinds) {
    const outcomes = await crashEverywhere(kind)
    // what follows the first turn has no call
    const isOver = outcomes.findIndex(({ lastRecord }) => lastRecord === 'turn.committed')
    for (const { lastRecord, starts, isOpenAgain, result } of outcomes.slice(1, isOver + 1)) {
      // it says nothing about the call
      if (lastRecord === 'usage.spent') continue
      table.push(
        `| ${kind.name} | \`${lastRecord}\` | ${starts.join(', ')} | ${isOpenAgain ? 'open again' : '–'} | ${result} |`,
      )
    }
  }
  return table
}

describe('a crash after every record of a session with one call', () => {
  it.each(callKinds)('D5 D11 D13 $name: nothing is lost, doubled or invented', async (kind) => {
    const outcomes = await crashEverywhere(kind)
    expect(outcomes.flatMap(({ problems }) => problems)).toEqual([])
    const twice = ({ starts: [before, after] }: Outcome) => before + after > 1
    // a tool that changes nothing may run twice, and one that says so
    expect(outcomes.some(twice)).toBe(kind.isReadOnly || kind.recover === 'again')
    const isOver = outcomes.findIndex(({ lastRecord }) => lastRecord === 'call.completed')
    if (!kind.isReadOnly) expect(outcomes.slice(isOver).filter(({ starts }) => starts[1] > 0)).toEqual([])
  })

  it('D11 the table in the docs says what happens', async () => {
    expect(readFileSync('docs/durability.md', 'utf8')).toContain((await rows()).join('\n'))
  })
})
