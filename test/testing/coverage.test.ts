import { describe, expect, it } from 'vitest'
import { callChart, executorChart, queryChart } from '../../machines/index.ts'
import type { CoverageFile } from '../../src/inspect/index.ts'
import { coverage, flush, heldQuery, heldTool, heldTurn } from '../../src/testing/index.ts'
import { transitionsOf } from '../charts/chart-transitions.ts'

describe('coverage of the charts', () => {
  it('Q1 counts the transitions that executors take, and names those never taken', async () => {
    const taken = coverage()
    expect(taken.counts('call').every(({ count }) => count === 0)).toBe(true)
    const read = heldTool('Read', { safe: true })
    const { executor, add } = heldTurn([read.tool])
    const stop = taken.watch(executor)
    for (const id of ['a', 'b']) add(id, 'Read')
    read.run('a').finish()
    await flush()
    const started = taken.counts('call').filter(({ name }) => name.startsWith('call.queued --call.start'))
    expect(started.reduce((sum, { count }) => sum + count, 0)).toBe(2)
    expect(taken.missing('executor')).not.toContain('executor.gate.open --always[1]→ executor.gate.shared')
    expect(taken.missing('executor')).toContain('executor.gate.exclusive --always[0]→ executor.gate.open')
    expect(taken.report()).toMatch(/^call .* of \d+ transitions\n {2}never: call\./)
    stop()
    read.run('b').finish()
    await flush()
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
    await flush()
    held.start()
    held.end()
    await result
    expect(taken.missing('query')).not.toContain('query.streaming --stream.ended[0]→ query.draining')
    expect(taken.missing('query')).toContain('query.retrying --retry.due[0]→ query.preparing')
  })

  it('Q1 names each transition as the machine has it', () => {
    const machines = { call: callChart(), executor: executorChart(), query: queryChart() }
    for (const chart of ['call', 'executor', 'query'] as const) {
      const names = transitionsOf(machines[chart] as never).map(({ name }) => name)
      expect(coverage().missing(chart)).toEqual(names)
      expect(new Set(names).size).toBe(names.length)
    }
  })

  it('Q1 is saved as a file that another process adds to its own', async () => {
    const [first, second] = [coverage(), coverage()]
    const read = heldTool('Read', { safe: true })
    for (const taken of [first, second]) {
      const { executor, add } = heldTurn([read.tool])
      taken.watch(executor)
      add('a', 'Read')
      read.run('a').finish()
      await flush()
    }
    second.add(first.save())
    const twice = first.counts('call').map(({ name, count }) => ({ name, count: 2 * count }))
    expect(second.counts('call')).toEqual(twice)
    expect(JSON.parse(second.save())).toMatchObject({ signalbox: 'coverage', version: 1 })
    expect(second.save()).toBe(second.save())
  })

  it('Q1 ignores transitions of another version, and rejects files that are not coverage', () => {
    const taken = coverage()
    const file = JSON.parse(taken.save()) as CoverageFile
    const [call, ...others] = file.charts as [CoverageFile['charts'][number], ...CoverageFile['charts'][number][]]
    const renamed = call.chart.transitions.map((each) => (each.id === 0 ? { ...each, event: 'call.begin' } : each))
    const chart = { ...call.chart, transitions: renamed }
    const counts = call.counts.map((_, index, { length }) => (index === 0 || index === length - 1 ? 5 : 0))
    taken.add(
      JSON.stringify({
        ...file,
        charts: [
          { chart, counts },
          { chart: { ...chart, id: 'another' }, counts },
        ],
      }),
    )
    expect(taken.counts('call').reduce((sum, { count }) => sum + count, 0)).toBe(5)
    const wrong = [
      ['', 'not JSON'],
      ['{}', 'Not a coverage file'],
      [JSON.stringify({ ...file, version: 2 }), 'version 2'],
      [JSON.stringify({ ...file, charts: [{ ...call, counts: [1] }, ...others] }), 'do not match'],
      [JSON.stringify({ ...file, charts: Array.from({ length: 30 }, () => call) }), 'expected at most'],
      [JSON.stringify({ ...file, charts: [{ ...call, counts: call.counts.map(() => -1) }] }), 'Not a coverage file'],
    ] as const
    for (const [text, problem] of wrong) expect(() => taken.add(text)).toThrow(problem)
  })
})
