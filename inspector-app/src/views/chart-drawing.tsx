import { useState } from 'preact/hooks'
import type { ChartDefinition, ChartNode, ChartTransition } from '../../../src/inspect/index.ts'
import { edgePath, labelPoint } from '../chart/edge-path.ts'
import { type Box, type Edge, edgesOf, type Layout } from '../chart/graph.ts'
import { letterSize, type PlacedLabel, placeLabels, standingLabels, touches } from '../chart/place-labels.ts'
import { type Heat, levelOf } from '../model/heat.ts'
import type { Actor } from '../model/model.ts'
import { eventWords } from '../words.ts'

interface Props {
  readonly chart: ChartDefinition
  readonly layout: Layout
  readonly actor: Actor | undefined
  readonly heat?: Heat | undefined
  /** Pixels per unit of the layout. */
  readonly fit: number
  /** The part of the drawing that is in view. */
  readonly view: Box
  /** Transitions that a guard refuses now. */
  readonly refused?: readonly number[] | undefined
  /** How many calls are in each state. */
  readonly counts?: ReadonlyMap<number, number> | undefined
  /** The state whose calls are listed. */
  readonly picked?: number | undefined
}

/** Smaller labels cannot be read. */
const labelFit = 0.72

/**
 * States as nested boxes. Active states are lit, taken edges are traced, the last taken edge flashes, and refused ones
 * are dashed. Edges have labels where there is room.
 */
export function ChartDrawing({ chart, layout, actor, heat, fit, view, refused = [], counts, picked }: Props) {
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
  const refusedEdges = edges.filter(({ transitions }) => transitions.some((each) => refused.includes(each)))
  const letter = letterSize(fit)
  const linesOf = (edge: Edge, of: (id: number) => boolean): string[] =>
    edge.transitions
      .filter(of)
      .slice(0, maxLines)
      .flatMap((id) => chart.transitions[id] ?? [])
      .map((each) => `${textOf(each)}${heat === undefined ? '' : ` · ${timesOf(heat.counts[each.id])}`}`)
  const shown = edges.find(({ id }) => id === hovered)
  const pointed = shown === undefined ? lastEdges : [shown]
  const needed = placeLabels(
    chart,
    layout,
    [
      ...pointed.map((edge) => ({
        edge: edge.id,
        lines: linesOf(edge, (id) => shown !== undefined || last.has(id)),
        isNeeded: true,
      })),
      ...refusedEdges
        .filter((edge) => !pointed.includes(edge))
        .map((edge) => ({
          edge: edge.id,
          lines: edge.transitions
            .filter((id) => refused.includes(id))
            .map((id) => `${chart.transitions[id]?.guard ?? 'no guard'}: no`),
          isNeeded: true,
        })),
    ],
    letter,
    view,
  )
  const names =
    heat !== undefined || fit < labelFit
      ? []
      : standingLabels(chart, layout, letter, () =>
          edges.map((edge) => ({ edge: edge.id, lines: [shortOf(chart, edge)] })),
        )
  const labels = [
    ...names.filter((name) => !needed.some((label) => label.edge === name.edge || touches(label, name))),
    ...needed,
  ]
  const classOf = ({ edge }: PlacedLabel): string => {
    if (pointed.some(({ id }) => id === edge)) return 'edge-label'
    return refusedEdges.some(({ id }) => id === edge) ? 'edge-refusal' : 'edge-name'
  }
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
            count={counts?.get(node.id) ?? 0}
            isPicked={node.id === picked}
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
      {refusedEdges.map((edge) => {
        const points = layout.lines.get(edge.id)
        return points === undefined ? null : (
          <g key={`${edge.id}-refused`} class="refused" data-edge={edge.id}>
            <path d={edgePath(points)} />
            <Head points={points} />
          </g>
        )
      })}
      {labels.map((label) => (
        <EdgeLabel key={label.edge} label={label} kind={classOf(label)} />
      ))}
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
  readonly count: number
  readonly isPicked: boolean
}

function State({ node, box, isActive, isInitial, isLeaf, pulse, heat, count, isPicked }: StateProps) {
  const { x, y, width, height } = box
  return (
    <g
      class={`state ${isLeaf ? 'leaf' : 'group'} ${node.kind}${isActive ? ' active' : ''}${isPicked ? ' picked' : ''}${heat}`}
      data-state={node.key}
    >
      <rect x={x} y={y} width={width} height={height} rx={isLeaf ? height / 2 : 12} />
      {node.kind === 'final' && (
        <rect class="inner" x={x + 3} y={y + 3} width={width - 6} height={height - 6} rx={height / 2 - 3} />
      )}
      {pulse !== undefined && (
        <rect key={pulse} class="pulse" x={x} y={y} width={width} height={height} rx={isLeaf ? height / 2 : 12} />
      )}
      {isInitial && <circle class="initial" cx={x + (isLeaf ? 8 : 12)} cy={y + (isLeaf ? height / 2 : 15)} r="2.6" />}
      <text
        x={isLeaf ? x + width / 2 + (isInitial ? 6 : 0) : x + (isInitial ? 20 : 10)}
        y={isLeaf ? y + height / 2 : y + 15}
        text-anchor={isLeaf ? 'middle' : 'start'}
        dominant-baseline="central"
      >
        {node.key}
      </text>
      {isLeaf && count > 0 && (
        <g class="in-it">
          <circle cx={x + width - 2} cy={y + 2} r={count > 999 ? 15 : count > 99 ? 12 : 8.5} />
          <text x={x + width - 2} y={y + 2.5} text-anchor="middle" dominant-baseline="central">
            {count > 999 ? '999+' : count}
          </text>
        </g>
      )}
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

/** The events and guards of an edge. */
function EdgeLabel({ label, kind }: { label: PlacedLabel; kind: string }) {
  const { x, y, width, height, lines, edge, letter } = label
  return (
    <g class={kind} data-label={edge}>
      <rect x={x} y={y} width={width} height={height} rx="4" />
      {lines.map((line, index) => (
        <text
          key={`${index} ${line}`}
          x={x + letter / 2}
          y={y + letter * (1.2 + index * 1.3)}
          style={{ fontSize: `${letter}px` }}
        >
          {line}
        </text>
      ))}
    </g>
  )
}

const maxLines = 6

/** The first transition of an edge, and how many more there are. */
function shortOf(chart: ChartDefinition, { transitions }: Edge): string {
  const [first] = transitions.flatMap((id) => chart.transitions[id] ?? [])
  if (first === undefined) return ''
  return `${textOf(first)}${transitions.length === 1 ? '' : ` +${transitions.length - 1}`}`
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
