import { readFileSync, writeFileSync } from 'node:fs'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { compileChart } from '../../src/chart-engine/compile-chart.ts'
import { observe, plain, runners } from './beside-xstate.ts'
import { type Feature, features } from './engine-features.ts'

const seenBy = (name: keyof typeof runners, { chart, acts }: Feature) =>
  observe(
    runners[name],
    (trace) => chart((word) => (args, params) => void trace.push([word, plain(args.context), args.event.type, params])),
    acts,
  )

const isReportOfEnd = (told: unknown): boolean => JSON.stringify(told).includes('"xstate.done.actor.it"')

describe('features of XState, from a table', () => {
  beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation(() => undefined))

  it.each(features.filter(({ answer }) => answer === 'same'))('Q7 the same as XState: $name', (feature) => {
    const expected = seenBy('xstate', feature)
    expect(expected.views.length).toBeGreaterThan(1)
    expect(seenBy('compiled', feature)).toEqual(expected)
    expect(seenBy('root', feature)).toEqual(expected)
    expect(seenBy('rootAlone', feature)).toEqual({ ...expected, told: [] })
    const child = seenBy('xstateChild', feature)
    expect(seenBy('leanChild', feature)).toEqual({ ...child, told: child.told.filter((each) => !isReportOfEnd(each)) })
  })

  it.each(features.filter(({ answer }) => answer === 'refused'))('Q7 rejected by name: $name', ({ name, chart }) => {
    expect(() => compileChart(chart(() => () => undefined))).toThrow(`does not support ${name}`)
  })

  it('has at least 60 features', () => {
    expect(new Set(features.map(({ name }) => name)).size).toBeGreaterThanOrEqual(60)
  })
})

describe('docs/chart-engine.md', () => {
  it('lists each feature and whether the table supports it', () => {
    const path = new URL('../../docs/chart-engine.md', import.meta.url)
    const page = readFileSync(path, 'utf8')
    const answers = { same: 'same as XState', refused: 'refused' }
    const rows = new Set(features.map(({ name, answer }) => `| ${name} | ${answers[answer]} |`))
    const table = ['| feature | table engine |', '|---|---|', ...rows].join('\n')
    const written = page.replace(/(?<=<!-- features -->\n)[\s\S]*(?=<!-- \/features -->)/, `${table}\n`)
    // SIGNALBOX_WRITE=1 updates the page
    if (process.env.SIGNALBOX_WRITE === '1') writeFileSync(path, written)
    else expect(page).toBe(written)
  })
})
