import { describe, expect, it } from 'vitest'
import { coverage, heldQuery, heldTool, heldTurn, settled } from '../../src/testing/index.ts'

describe('coverage of the charts', () => {
  it('Q1 counts what executors take, and names what nobody took', async () => {
    const taken = coverage()
    expect(taken.counts('call').every(({ count }) => count === 0)).toBe(true)
    const read = heldTool('Read', { safe: true })
    const { executor, add } = heldTurn([read.tool])
    const stop = taken.watch(executor)
    for (const id of ['a', 'b']) add(id, 'Read')
    read.run('a').finish()
    await settled()
    const started = taken.counts('call').filter(({ name }) => name.startsWith('call.queued --call.start'))
    expect(started.reduce((sum, { count }) => sum + count, 0)).toBe(2)
    expect(taken.missing('executor')).not.toContain('executor.gate.open --always[1]→ executor.gate.shared')
    expect(taken.missing('executor')).toContain('executor.gate.exclusive --always[0]→ executor.gate.open')
    expect(taken.report()).toMatch(/^call .* of \d+ transitions\n {2}never: call\./)
    stop()
    read.run('b').finish()
    await settled()
    expect(
      taken
        .counts('call')
        .filter(({ name }) => name.includes('tool.settled'))
        .reduce((sum, { count }) => sum + count, 0),
    ).toBe(1)
  })

  it('L4 counts the query too', async () => {
    const taken = coverage()
    const { run, held, result } = heldQuery([])
    taken.watch(run)
    await settled()
    held.start()
    held.end()
    await result
    expect(taken.missing('query')).not.toContain('query.streaming --stream.ended[0]→ query.draining')
    expect(taken.missing('query')).toContain('query.retrying --retry.due[0]→ query.preparing')
  })
})
