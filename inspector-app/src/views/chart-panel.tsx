import { useState } from 'preact/hooks'
import type { ChartDefinition } from '../../../src/inspect/index.ts'
import type { Layout } from '../chart/graph.ts'
import { callsByState } from '../model/calls-in-state.ts'
import type { FirstChart } from '../model/first-chart.ts'
import { countsIn, type Heat, heatOf } from '../model/heat.ts'
import type { Actor, Cast } from '../model/model.ts'
import { failedIn, refusedNow } from '../model/refused.ts'
import type { State } from '../store.ts'
import { useStore, useView } from '../use-view.ts'
import { eventWords } from '../words.ts'
import { ChartDrawing } from './chart-drawing.tsx'
import { fillScreen, leaveFullScreen } from './full-screen.ts'
import { HeatLegend } from './heat-legend.tsx'
import { Icon } from './icons.tsx'
import { InState } from './in-state.tsx'
import { Still } from './still.tsx'
import { useChart } from './use-chart.ts'

interface Props {
  readonly id: 'executor' | 'call'
  readonly kind: FirstChart['kind'] | 'call' | 'background'
  readonly title: string
  readonly cast: Cast
  readonly chart: ChartDefinition | undefined
  readonly actor: Actor | undefined
  /** Another chart that can be shown in its place. */
  readonly other?: { readonly name: string; readonly label: string; readonly onClick: () => void } | undefined
}

/** One chart with its title. It can be panned, zoomed and shown in full screen. */
export function ChartPanel({ id, kind, title, cast, chart, actor, other }: Props) {
  const store = useStore()
  const { state, run } = useView()
  const { ref, layout, isBusy, box, view, fit, reset, isMoved, isFollowing, isWhole, setWhole } = useChart(chart, actor)
  const [picked, pick] = useState<number | undefined>()
  const heat = chart === undefined ? undefined : heatFor(state, cast, chart)
  const isFull = state.full === id
  const last = actor?.last
  const taken = last?.transitions.flatMap((each) => chart?.transitions[each] ?? []).at(-1)
  const refused = refusedNow(actor, cast)
  const inStates = kind === 'call' && run !== undefined ? callsByState(run, chart) : undefined
  const counts = inStates && new Map(Array.from(inStates, ([node, calls]) => [node, calls.length]))
  const onClick = (event: MouseEvent): void => {
    if (chart === undefined || layout === undefined || ref.current === null) return
    pick(stateAt(layout, pointIn(ref.current, box, event)))
  }
  return (
    <section
      class={`panel chart ${id} of-${kind}${isFull ? ' full' : ''}`}
      aria-label={`${title}: statechart`}
      aria-busy={isBusy}
      data-readable={fit >= readableFit}
    >
      <h2>
        <span class="title">{title}</span>
        {other !== undefined && (
          <button type="button" class="other" aria-label={other.label} title={other.label} onClick={other.onClick}>
            {other.name}
          </button>
        )}
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
        <button
          type="button"
          class="states"
          aria-label={`Calls by state of the chart ${id}`}
          title="Which calls are in which state"
          aria-expanded={picked !== undefined}
          onClick={() => pick(picked === undefined ? activeLeaf(chart, actor) : undefined)}
        >
          <Icon name="list" />
        </button>
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
        {!isMoved && (isFollowing || isWhole) && (
          <button
            type="button"
            class="whole"
            aria-pressed={isWhole}
            aria-label={`The whole chart ${id}`}
            title={isWhole ? 'Follow the active state in readable letters' : 'Show the whole chart'}
            onClick={() => setWhole(!isWhole)}
          >
            <Icon name="fit" />
          </button>
        )}
        <button
          type="button"
          class="widen"
          aria-pressed={isFull}
          aria-label={isFull ? 'Leave full screen' : 'Show the chart in full screen'}
          title={isFull ? 'Leave full screen (Escape)' : 'Full screen'}
          onClick={({ currentTarget }) => (isFull ? leaveFullScreen(store) : fillScreen(store, currentTarget, id))}
        >
          <Icon name="wide" />
        </button>
      </h2>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the button with the list does the same by keyboard */}
      <svg
        ref={ref}
        viewBox={`${box.x} ${box.y} ${box.width} ${box.height}`}
        role="img"
        aria-label={`${title}, active: ${namesOf(chart, actor)}`}
        onClick={onClick}
      >
        {chart !== undefined && layout !== undefined && (
          <Still
            of={[
              chart,
              layout,
              actor,
              actor?.last,
              actor?.active,
              heat,
              fit,
              refused,
              picked,
              keyOf(counts),
              view.x,
              view.y,
            ]}
            draw={() => (
              <ChartDrawing
                chart={chart}
                layout={layout}
                fit={fit}
                view={view}
                actor={actor}
                heat={heat}
                refused={refused && failedIn(refused)}
                counts={counts}
                picked={picked}
              />
            )}
          />
        )}
      </svg>
      {picked !== undefined && chart !== undefined && (
        <InState chart={chart} kind={kind} cast={cast} actor={actor} picked={picked} pick={pick} inStates={inStates} />
      )}
      {heat !== undefined && state.heat !== 'off' && <HeatLegend heat={heat} of={state.heat} />}
    </section>
  )
}

/** State names are about ten pixels high from here on. */
const readableFit = 0.66

const keyOf = (counts: ReadonlyMap<number, number> | undefined): string =>
  counts === undefined ? '' : [...counts].join()

/** A pointer's place in the units of the layout. */
function pointIn(svg: SVGSVGElement, box: { x: number; y: number; width: number; height: number }, event: MouseEvent) {
  const rect = svg.getBoundingClientRect()
  const scale = Math.min(rect.width / box.width, rect.height / box.height)
  return {
    x: box.x + box.width / 2 + (event.clientX - rect.x - rect.width / 2) / scale,
    y: box.y + box.height / 2 + (event.clientY - rect.y - rect.height / 2) / scale,
  }
}

/** The innermost state at a point. */
function stateAt({ boxes }: Layout, { x, y }: { x: number; y: number }): number | undefined {
  const found = [...boxes].filter(
    ([, box]) => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height,
  )
  const [smallest] = found.sort(([, a], [, b]) => a.width * a.height - b.width * b.height)
  return smallest?.[0]
}

function activeLeaf(chart: ChartDefinition | undefined, actor: Actor | undefined): number | undefined {
  return (actor?.active ?? []).at(-1) ?? chart?.nodes.find(({ parent }) => parent !== null)?.id
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
