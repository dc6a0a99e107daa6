import { useCallback, useState } from 'preact/hooks'
import type { ChartDefinition } from '../../../src/inspect/index.ts'
import type { FirstChart } from '../model/first-chart.ts'
import { countsIn, type Heat, heatOf } from '../model/heat.ts'
import type { Actor, Cast } from '../model/model.ts'
import type { State } from '../store.ts'
import { useStore, useView } from '../use-view.ts'
import { eventWords } from '../words.ts'
import { ChartDrawing } from './chart-drawing.tsx'
import { HeatLegend } from './heat-legend.tsx'
import { Icon } from './icons.tsx'
import { Still } from './still.tsx'
import { usePanZoom } from './use-pan-zoom.ts'

interface Props {
  readonly id: 'executor' | 'call'
  readonly kind: FirstChart['kind'] | 'call'
  readonly title: string
  readonly cast: Cast
  readonly chart: ChartDefinition | undefined
  readonly actor: Actor | undefined
}

/** One chart with its title. It can be panned, zoomed and expanded. */
export function ChartPanel({ id, kind, title, cast, chart, actor }: Props) {
  const store = useStore()
  const { state, run } = useView()
  const [, redraw] = useState(0)
  const onLayout = useCallback(() => redraw((count) => count + 1), [])
  const layout = chart === undefined ? undefined : store.layouts.of(chart, onLayout)
  const { ref, box, reset, isMoved } = usePanZoom(layout?.width ?? 1, layout?.height ?? 1)
  const heat = chart === undefined ? undefined : heatFor(state, cast, chart)
  const isWide = state.wide === id
  const last = actor?.last
  const taken = last?.transitions.flatMap((each) => chart?.transitions[each] ?? []).at(-1)
  return (
    <section class={`panel chart ${id} of-${kind}`} aria-label={`${title}: statechart`}>
      <h2>
        <span class="title">{title}</span>
        {(kind === 'executor' || kind === 'query') && run?.queryActor !== undefined && (
          <button
            type="button"
            class="other"
            aria-pressed={kind === 'query'}
            aria-label={kind === 'executor' ? 'show the query' : 'show the executor'}
            title={kind === 'executor' ? 'Show the query' : 'Show the executor'}
            onClick={() => store.set({ first: kind === 'executor' ? 'query' : 'executor' })}
          >
            {kind === 'executor' ? 'query' : 'executor'}
          </button>
        )}
        {last !== undefined && last.event !== 'xstate.init' && (
          <span class="last" title="The last step">
            {eventWords(last.event)}
            {taken?.guard != null && <i> [{taken.guard}]</i>}
          </span>
        )}
        <span class="spring" />
        <select
          class="heat-choice"
          aria-label={`Heat on the chart ${id}`}
          title="How often each transition was taken"
          value={state.heat}
          onChange={({ currentTarget }) => store.set({ heat: currentTarget.value as typeof state.heat })}
        >
          <option value="off">heat off</option>
          <option value="run">this run</option>
          {state.coverage !== undefined && <option value="file">coverage</option>}
        </select>
        {isMoved && (
          <button type="button" aria-label="Fit the chart" title="Fit" onClick={reset}>
            <Icon name="fit" />
          </button>
        )}
        <button
          type="button"
          class="widen"
          aria-pressed={isWide}
          aria-label={isWide ? 'Restore the layout' : 'Expand the chart'}
          title={isWide ? 'Smaller' : 'Larger'}
          onClick={() => store.set({ wide: isWide ? undefined : id })}
        >
          <Icon name="wide" />
        </button>
      </h2>
      <svg
        ref={ref}
        viewBox={`${box.x} ${box.y} ${box.width} ${box.height}`}
        role="img"
        aria-label={`${title}, active: ${namesOf(chart, actor)}`}
      >
        {chart !== undefined && layout !== undefined && (
          <Still
            of={[chart, layout, actor, actor?.last, actor?.active, heat]}
            draw={() => <ChartDrawing chart={chart} layout={layout} actor={actor} heat={heat} />}
          />
        )}
      </svg>
      {heat !== undefined && state.heat !== 'off' && <HeatLegend heat={heat} of={state.heat} />}
    </section>
  )
}

/** From all calls of the run, or from a coverage file. */
function heatFor(state: State, { heat }: Cast, chart: ChartDefinition): Heat | undefined {
  if (state.heat === 'run') return heatOf(chart, heat.get(chart.id) ?? noneOf(chart))
  const counts = state.heat === 'file' && state.coverage !== undefined ? countsIn(state.coverage, chart) : undefined
  return counts && heatOf(chart, counts)
}

const noneOf = ({ transitions }: ChartDefinition): number[] => transitions.map(() => 0)

function namesOf(chart: ChartDefinition | undefined, actor: Actor | undefined): string {
  const active = new Set(actor?.active)
  return (chart?.nodes ?? [])
    .filter(({ id, parent }) => parent !== null && active.has(id))
    .map(({ key }) => key)
    .join(', ')
}
