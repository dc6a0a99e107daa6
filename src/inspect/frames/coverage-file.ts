import type { ChartDefinition } from './chart-definition.ts'
import { fields, isChart, isCount, listOf, oneOf } from './check-frame.ts'

/** The file format for how often a test suite took each transition. Includes the charts, so it can be drawn alone. */
export interface CoverageFile {
  readonly signalbox: 'coverage'
  readonly version: 1
  readonly charts: readonly { readonly chart: ChartDefinition; readonly counts: readonly number[] }[]
}

export const coverageText = (charts: CoverageFile['charts']): string =>
  `${JSON.stringify({ signalbox: 'coverage', version: 1, charts } satisfies CoverageFile)}\n`

const isCoverage = fields({
  signalbox: oneOf('coverage'),
  version: isCount,
  charts: listOf(fields({ chart: isChart, counts: listOf(isCount) })),
})

const maxCharts = 20

/** Parses untrusted text as coverage. Returns a string that says what is wrong if it is not valid. */
export function checkCoverage(text: string): CoverageFile | string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'Not a coverage file: the text is not JSON.'
  }
  if (!isCoverage(value))
    return 'Not a coverage file: expected { "signalbox": "coverage", "version": 1, "charts": […] }.'
  const file = value as CoverageFile
  if (file.version !== 1) return `Unsupported coverage file: expected version 1, received version ${file.version}.`
  if (file.charts.length > maxCharts)
    return `Invalid coverage file: expected at most ${maxCharts} charts, received ${file.charts.length}.`
  const odd = file.charts.find(({ chart, counts }) => chart.transitions.length !== counts.length)
  return odd === undefined
    ? file
    : `Invalid coverage file: the counts of chart ${odd.chart.id} do not match its transitions.`
}
