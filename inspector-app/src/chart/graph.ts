import type { ChartDefinition, ChartNode } from '../../../src/inspect/index.ts'

/** Transitions between the same two states share one edge. */
export interface Edge {
  readonly id: string
  readonly source: number
  readonly target: number
  readonly transitions: readonly number[]
}

export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** The room for a chart, in pixels. */
export interface Room {
  readonly width: number
  readonly height: number
}

/** How large a layout is drawn if it fills the room. */
export const fitOf = ({ width, height }: Room, room: Room): number =>
  Math.min(room.width / Math.max(1, width), room.height / Math.max(1, height))

/** Around a drawing, in its units. */
export const margin = 6
/** At this size the smallest names, which have 13 units, are 11 pixels high. */
export const readableFit = 0.85

export interface Layout {
  readonly width: number
  readonly height: number
  readonly boxes: ReadonlyMap<number, Box>
  /** The corner points of each edge. Empty until the layout worker has answered. */
  readonly lines: ReadonlyMap<string, readonly { readonly x: number; readonly y: number }[]>
}

const known = new WeakMap<ChartDefinition, readonly Edge[]>()

export function edgesOf(chart: ChartDefinition): readonly Edge[] {
  const found = known.get(chart)
  if (found !== undefined) return found
  const edges = new Map<string, { source: number; target: number; transitions: number[] }>()
  for (const { id, source, targets } of chart.transitions) {
    const [target] = targets
    if (target === undefined) continue
    const key = `${source}-${target}`
    const edge = edges.get(key)
    if (edge === undefined) edges.set(key, { source, target, transitions: [id] })
    else edge.transitions.push(id)
  }
  const all = Array.from(edges, ([id, edge]) => ({ id, ...edge }))
  known.set(chart, all)
  return all
}

export const childrenOf = (chart: ChartDefinition, parent: number): ChartNode[] =>
  chart.nodes.filter((node) => node.parent === parent)

export const rootOf = (chart: ChartDefinition): ChartNode | undefined =>
  chart.nodes.find(({ parent }) => parent === null)

/** Wide enough for its name. */
export const leafSize = ({ key }: ChartNode, isCompact = false): { width: number; height: number } => ({
  width: Math.max(56, Math.round(Math.min(key.length, 40) * 8.3 + (isCompact ? 18 : 24))),
  height: isCompact ? 21 : 27,
})

/** Equal for equal charts, so that layouts can be cached. */
export function layoutKey(chart: ChartDefinition): string {
  const nodes = chart.nodes.map(({ id, key, parent, kind }) => `${id}${key}${parent}${kind}`).join()
  const edges = edgesOf(chart)
    .map(({ id }) => id)
    .join()
  return `${layoutVersion}|${chart.id}|${nodes}|${edges}`
}

const layoutVersion = 7
