import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { drawCharts } from '../../scripts/charts-in-docs.ts'
import { root } from '../support/imports.ts'

const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)]
  .filter((name) => name.endsWith('.md'))
  .map((name) => [name, readFileSync(join(root, name), 'utf8')] as const)

describe('charts in README and docs', () => {
  it.each(pages)('Q1 %s shows what the machines say; otherwise run npm run docs:charts', (_, page) => {
    expect(page === drawCharts(page)).toBe(true)
  })

  it.each(pages)('%s has no chart that is drawn by hand', (_, page) => {
    expect(page.match(/```mermaid/g) ?? []).toHaveLength(page.match(/<!-- chart: \w+ -->\n```mermaid/g)?.length ?? 0)
  })

  it('shows all charts', () => {
    const page = readFileSync(join(root, 'docs/charts.md'), 'utf8')
    const names = [...page.matchAll(/<!-- chart: (\w+) -->/g)].map(([, name]) => name)
    expect(names).toEqual(['call', 'executor', 'query', 'background', 'connection'])
  })

  it('rejects an unknown chart', () => {
    expect(() => drawCharts('<!-- chart: call_ -->\n```mermaid\nx\n```')).toThrow('Unknown chart call_')
  })
})
