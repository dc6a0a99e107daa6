import type { ChartDefinition } from './chart-definition.ts'
import { fields, isChart, isCount, listOf, oneOf } from './check-frame.ts'

/** How often a test suite took each transition of each chart, as it is kept in a file. It draws by itself. */
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

/** What came from outside as coverage, if it is; a string says what is wrong. */
export function checkCoverage(text: string): CoverageFile | string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'This is not a coverage file: it is no JSON.'
  }
  if (!isCoverage(value)) return 'This is not a coverage file.'
  const file = value as CoverageFile
  if (file.version !== 1) return `This coverage file has version ${file.version}; version 1 can be read.`
  if (file.charts.length > maxCharts) return 'This coverage file has too many charts.'
  const odd = file.charts.find(({ chart, counts }) => chart.transitions.length !== counts.length)
  return odd === undefined ? file : `The coverage of the chart ${odd.chart.id} does not fit it.`
}
