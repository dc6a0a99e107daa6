import type { ChartDefinition } from '../../../src/inspect/index.ts'

/** A host has about six charts. A recording may come from anyone, so the number is limited. */
const mostCharts = 64

/** Every turn brings its charts with it. Equal ones are kept once, and what is computed from them as well. */
export class SharedCharts {
  readonly #known = new Map<string, ChartDefinition>()

  same(chart: ChartDefinition): ChartDefinition {
    const text = JSON.stringify(chart)
    const known = this.#known.get(text)
    if (known !== undefined) return known
    if (this.#known.size >= mostCharts) this.#known.clear()
    this.#known.set(text, chart)
    return chart
  }
}
