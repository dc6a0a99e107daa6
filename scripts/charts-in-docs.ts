import { backgroundChart, callChart, connectionChart, executorChart, queryChart } from '../machines/index.ts'
import { chartToMermaid } from '../src/testing/chart-to-mermaid.ts'

const charts = {
  call: callChart,
  executor: executorChart,
  query: queryChart,
  background: backgroundChart,
  connection: connectionChart,
}

/** `<!-- chart: query -->` and the Mermaid block below it. */
const marked = /(<!-- chart: (\w+) -->\n```mermaid\n)[\s\S]*?(\n```)/g

/** The page with every marked chart drawn from its machine. */
export function drawCharts(page: string): string {
  return page.replaceAll(marked, (_, before: string, name: string, after: string) => {
    const chart = charts[name as keyof typeof charts]
    if (chart === undefined) throw new Error(`Unknown chart ${name}. Known charts: ${Object.keys(charts).join(', ')}.`)
    return `${before}${chartToMermaid(chart() as never)}${after}`
  })
}
