import { useState } from 'preact/hooks'
import type { ChartDefinition, ChartNode, ChartTransition } from '../../../src/inspect/index.ts'
import { edgePath, labelPoint } from '../chart/edge-path.ts'
import { type Box, type Edge, edgesOf, type Layout } from '../chart/graph.ts'
import { type Heat, levelOf } from '../model/heat.ts'
import type { Actor } from '../model/model.ts'
import { eventWords } from '../words.ts'

interface Props {
  readonly chart: ChartDefinition
  readonly layout: Layout
  readonly actor: Actor | undefined
  readonly heat?: Heat | undefined
}

/** States as nested boxes. Active states are lit, taken edges are traced, and the last taken edge flashes. */
export function ChartDrawing({ chart, layout, actor, heat }: Props) {
  const [hovered, hover] = useState<string | undefined>()
  const active = new Set(actor?.active)
  const last = new Set(actor?.last?.transitions)
  const edges = edgesOf(chart)
  const lastEdges = edges.filter(({ transitions }) => transitions.some((each) => last.has(each)))
  const stayed = new Set(
    [...last].flatMap((each) => {
      const transition = chart.transitions[each]
      return transition !== undefined && transition.targets.length === 0 ? [transition.source] : []
    }),
  )
  const initial = new Set(chart.nodes.flatMap((node) => node.initial ?? []))
  const shown = edges.find(({ id }) => id === hovered)
  return (
    <>
      {chart.nodes.map((node) => {
        const box = layout.boxes.get(node.id)
        return box === undefined ? null : (
          <State
            key={node.id}
            node={node}
            box={box}
            isActive={active.has(node.id)}
            isInitial={initial.has(node.id)}
            isLeaf={!chart.nodes.some(({ parent }) => parent === node.id)}
            pulse={stayed.has(node.id) ? actor?.last?.seq : undefined}
            heat={heat === undefined ? '' : stateHeat(node, heat)}
          />
        )
      })}
      {edges.map((edge) => (
        <Line
          key={edge.id}
          edge={edge}
          layout={layout}
          isTaken={edge.transitions.some((each) => actor?.taken.has(each) === true)}
          heat={heat === undefined ? '' : ` heat-${levelOf(countOf(edge, heat), heat.most)}`}
          onHover={hover}
        />
      ))}
      {heat !== undefined && edges.map((edge) => <HeatCount key={edge.id} edge={edge} layout={layout} heat={heat} />)}
      {lastEdges.map((edge) => {
        const points = layout.lines.get(edge.id)
        return points === undefined ? null : (
          <g key={`${edge.id}-${actor?.last?.seq}`} class="flash" data-edge={edge.id}>
            <path d={edgePath(points)} />
            <Head points={points} />
          </g>
        )
      })}
      {lastEdges.length > 0 &&
        shown === undefined &&
        lastEdges.map((edge) => (
          <EdgeLabel
            key={`${edge.id}-label`}
            layout={layout}
            edge={edge}
            transitions={edge.transitions
              .filter((each) => last.has(each))
              .flatMap((each) => chart.transitions[each] ?? [])}
          />
        ))}
      {shown !== undefined && (
        <EdgeLabel
          layout={layout}
          edge={shown}
          transitions={shown.transitions.flatMap((each) => chart.transitions[each] ?? [])}
          heat={heat}
        />
      )}
    </>
  )
}

interface StateProps {
  readonly node: ChartNode
  readonly box: Box
  readonly isActive: boolean
  readonly isInitial: boolean
  readonly isLeaf: boolean
  readonly pulse: number | undefined
  readonly heat: string
}

function State({ node, box, isActive, isInitial, isLeaf, pulse, heat }: StateProps) {
  const { x, y, width, height } = box
  return (
    <g
      class={`state ${isLeaf ? 'leaf' : 'group'} ${node.kind}${isActive ? ' active' : ''}${heat}`}
      data-state={node.key}
    >
      <rect x={x} y={y} width={width} height={height} rx={isLeaf ? height / 2 : 12} />
      {node.kind === 'final' && (
        <rect class="inner" x={x + 3} y={y + 3} width={width - 6} height={height - 6} rx={height / 2 - 3} />
      )}
      {pulse !== undefined && (
        <rect key={pulse} class="pulse" x={x} y={y} width={width} height={height} rx={isLeaf ? height / 2 : 12} />
      )}
      {isInitial && <circle class="initial" cx={x + (isLeaf ? 13 : 14)} cy={y + (isLeaf ? height / 2 : 17)} r="3" />}
      <text
        x={isLeaf ? x + width / 2 + (isInitial ? 5 : 0) : x + (isInitial ? 24 : 14)}
        y={isLeaf ? y + height / 2 : y + 17}
        text-anchor={isLeaf ? 'middle' : 'start'}
        dominant-baseline="central"
      >
        {node.key}
      </text>
    </g>
  )
}

interface LineProps {
  readonly edge: Edge
  readonly layout: Layout
  readonly isTaken: boolean
  readonly heat: string
  readonly onHover: (id: string | undefined) => void
}

function Line({ edge, layout, isTaken, heat, onHover }: LineProps) {
  const points = layout.lines.get(edge.id)
  if (points === undefined) return null
  const path = edgePath(points)
  return (
    <g
      class={`${isTaken ? 'edge taken' : 'edge'}${heat}`}
      data-edge={edge.id}
      onPointerEnter={() => onHover(edge.id)}
      onPointerLeave={() => onHover(undefined)}
    >
      <path class="reach" d={path} />
      <path d={path} />
      <Head points={points} />
    </g>
  )
}

function Head({ points }: { points: readonly { x: number; y: number }[] }) {
  const [before, end] = points.slice(-2)
  if (before === undefined || end === undefined) return null
  const angle = (Math.atan2(end.y - before.y, end.x - before.x) * 180) / Math.PI
  return <path class="head" d="M0 0 L-7 -3.6 L-7 3.6 Z" transform={`translate(${end.x} ${end.y}) rotate(${angle})`} />
}

/** The event and guard of the transition. */
function EdgeLabel({
  layout,
  edge,
  transitions,
  heat,
}: {
  layout: Layout
  edge: Edge
  transitions: readonly ChartTransition[]
  heat?: Heat | undefined
}) {
  const points = layout.lines.get(edge.id)
  if (points === undefined || transitions.length === 0) return null
  const lines = transitions
    .slice(0, 6)
    .map((each) => `${textOf(each)}${heat === undefined ? '' : ` · ${timesOf(heat.counts[each.id])}`}`)
  const width = Math.max(...lines.map((line) => line.length)) * 7.3 + 14
  const height = lines.length * 16 + 7
  const at = labelPoint(points)
  const x = Math.max(2, Math.min(layout.width - width - 2, at.x - width / 2))
  const y = Math.max(2, Math.min(layout.height - height - 2, at.y - height / 2))
  return (
    <g class="edge-label">
      <rect x={x} y={y} width={width} height={height} rx="5" />
      {lines.map((line, index) => (
        <text key={line} x={x + 7} y={y + 15 + index * 16}>
          {line}
        </text>
      ))}
    </g>
  )
}

const countOf = ({ transitions }: Edge, { counts }: Heat): number =>
  transitions.reduce((sum, each) => sum + (counts[each] ?? 0), 0)

const timesOf = (count = 0): string => (count === 0 ? 'never' : `${count} ×`)

function stateHeat({ id }: ChartNode, { entered, first, most, taken }: Heat): string {
  const count = (entered.get(id) ?? 0) + (first.has(id) && taken > 0 ? 1 : 0)
  return ` heat-${levelOf(count, Math.max(most, count))}`
}

/** How often an edge was taken, and how many of its transitions were never taken. */
function HeatCount({ edge, layout, heat }: { edge: Edge; layout: Layout; heat: Heat }) {
  const points = layout.lines.get(edge.id)
  const count = countOf(edge, heat)
  if (points === undefined || count === 0) return null
  const never = edge.transitions.filter((each) => (heat.counts[each] ?? 0) === 0).length
  const text = `${count}${never === 0 ? '' : `, ${never} never`}`
  const { x, y } = labelPoint(points)
  const width = text.length * 6.8 + 6
  return (
    <g class={never === 0 ? 'heat-count' : 'heat-count some-never'}>
      <rect x={x - width / 2} y={y - 8} width={width} height="16" rx="4" />
      <text x={x} y={y} text-anchor="middle" dominant-baseline="central">
        {text}
      </text>
    </g>
  )
}

const textOf = ({ event, guard }: ChartTransition): string =>
  `${event === '' ? 'always' : eventWords(event)}${guard === null ? '' : ` [${guard}]`}`
