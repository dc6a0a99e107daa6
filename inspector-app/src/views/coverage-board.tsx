import type { ChartDefinition, CoverageFile } from '../../../src/inspect/index.ts'
import { heatOf } from '../model/heat.ts'
import { ChartDrawing } from './chart-drawing.tsx'
import { HeatLegend } from './heat-legend.tsx'
import { useChart } from './use-chart.ts'

/** The charts of a coverage file, shown without a run. */
export function CoverageBoard({ file }: { file: CoverageFile }) {
  return (
    <main class="coverage-board">
      {file.charts.map(({ chart, counts }) => (
        <CoveredChart key={chart.id} chart={chart} counts={counts} />
      ))}
    </main>
  )
}

function CoveredChart({ chart, counts }: { chart: ChartDefinition; counts: readonly number[] }) {
  const { ref, box, view, layout, fit } = useChart(chart, undefined)
  const heat = heatOf(chart, counts)
  return (
    <section class="panel chart" aria-label={`${chart.id}: coverage`}>
      <h2>
        <span class="title">{chart.id}</span>
      </h2>
      <svg
        ref={ref}
        viewBox={`${box.x} ${box.y} ${box.width} ${box.height}`}
        role="img"
        aria-label={`${chart.id}: ${heat.taken} of ${counts.length} transitions taken`}
      >
        {layout !== undefined && (
          <ChartDrawing chart={chart} layout={layout} fit={fit} view={view} actor={undefined} heat={heat} />
        )}
      </svg>
      <HeatLegend heat={heat} of="file" />
    </section>
  )
}
