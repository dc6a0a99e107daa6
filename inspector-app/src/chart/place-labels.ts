import type { ChartDefinition } from '../../../src/inspect/index.ts'
import type { Box, Layout } from './graph.ts'

interface Point {
  readonly x: number
  readonly y: number
}

/** A label with its place, in the units of the layout. */
export interface PlacedLabel extends Box {
  readonly edge: string
  readonly lines: readonly string[]
  readonly letter: number
}

interface Wanted {
  readonly edge: string
  readonly lines: readonly string[]
  /** Shown even if it covers lines, but never over a state. */
  readonly isNeeded?: boolean
}

/** The size of letters in the units of the layout, such that labels have about the same size on the screen. */
export const letterSize = (fit: number): number =>
  Math.round(Math.max(7.5, Math.min(13, 11 / Math.max(fit, 0.1))) * 2) / 2

const gap = 2
/** A label that covers more lines of other edges than this belongs to none of them. */
const maxCrossed = 1

/**
 * Places labels beside their edges. No label covers a state, the name of a group or another label. A label without
 * room is left out, unless it is needed: then the nearest free place is taken.
 */
export function placeLabels(
  chart: ChartDefinition,
  layout: Layout,
  wanted: readonly Wanted[],
  letter: number,
): PlacedLabel[] {
  const taken: Box[] = obstaclesOf(chart, layout)
  const placed: PlacedLabel[] = []
  const inOrder = [...wanted].sort((a, b) => Number(b.isNeeded === true) - Number(a.isNeeded === true))
  for (const { edge, lines, isNeeded = false } of inOrder) {
    const points = layout.lines.get(edge)
    if (points === undefined || points.length < 2 || lines.length === 0) continue
    // a needed label is rather small than missing
    const sizes = isNeeded ? [letter, letter * 0.85, letter * 0.7] : [letter]
    for (const size of sizes) {
      const width = Math.max(...lines.map((line) => line.length)) * size * 0.61 + size
      const height = lines.length * size * 1.3 + size * 0.4
      const box =
        besideLine(points, width, height, taken, layout, edge) ??
        (isNeeded ? nearest(points, width, height, taken, layout) : undefined)
      if (box === undefined) continue
      taken.push(box)
      placed.push({ ...box, edge, lines, letter: size })
      break
    }
  }
  return placed
}

const standing = new WeakMap<Layout, { letter: number; labels: readonly PlacedLabel[] }>()

/** The labels that have room whatever happens, computed once per layout. */
export function standingLabels(
  chart: ChartDefinition,
  layout: Layout,
  letter: number,
  wanted: () => readonly Wanted[],
): readonly PlacedLabel[] {
  const found = standing.get(layout)
  if (found?.letter === letter) return found.labels
  const labels = placeLabels(chart, layout, wanted(), letter)
  standing.set(layout, { letter, labels })
  return labels
}

/** The states, and the names and borders of groups. */
function obstaclesOf(chart: ChartDefinition, { boxes }: Layout): Box[] {
  const groups = new Set(chart.nodes.map(({ parent }) => parent))
  return chart.nodes.flatMap(({ id, key }) => {
    const box = boxes.get(id)
    if (box === undefined) return []
    if (!groups.has(id)) return [box]
    const { x, y, width, height } = box
    return [
      { x, y, width: Math.min(width, key.length * 8.5 + 22), height: 24 },
      { x, y, width, height: 0 },
      { x, y: y + height, width, height: 0 },
      { x, y, width: 0, height },
      { x: x + width, y, width: 0, height },
    ]
  })
}

function besideLine(
  points: readonly Point[],
  width: number,
  height: number,
  taken: readonly Box[],
  layout: Layout,
  edge: string,
): Box | undefined {
  let best: { box: Box; crossed: number } | undefined
  for (const [a, b] of segmentsOf(points)) {
    const isFlat = a.y === b.y
    for (const part of [0.5, 0.3, 0.7, 0.15, 0.85]) {
      const [x, y] = [a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part]
      const places = isFlat
        ? [
            [x - width / 2, y - height - 2],
            [x - width / 2, y + 2],
            [x - width / 2, y - height / 2],
          ]
        : [
            [x + 3, y - height / 2],
            [x - width - 3, y - height / 2],
            [x - width / 2, y - height / 2],
          ]
      for (const [left, top] of places as [number, number][]) {
        const box = { x: left, y: top, width, height }
        if (!isFree(box, taken, layout)) continue
        const crossed = crossedBy(box, layout, edge)
        if (crossed === 0) return box
        if (crossed <= maxCrossed && crossed < (best?.crossed ?? Number.POSITIVE_INFINITY)) best = { box, crossed }
      }
    }
  }
  return best?.box
}

/** The free place that is nearest to the middle of the longest segment. */
function nearest(
  points: readonly Point[],
  width: number,
  height: number,
  taken: readonly Box[],
  layout: Layout,
): Box | undefined {
  const [[a, b] = [points[0] as Point, points[0] as Point]] = segmentsOf(points)
  const middle = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 }
  for (let radius = 0; radius < layout.width + layout.height; radius += 8) {
    for (let step = 0; step < 16; step++) {
      const angle = (step * Math.PI) / 8
      const [x, y] = [middle.x + Math.cos(angle) * radius, middle.y + Math.sin(angle) * radius]
      const box = { x: x - width / 2, y: y - height / 2, width, height }
      if (isFree(box, taken, layout)) return box
    }
  }
  return undefined
}

/** Longest first. */
function segmentsOf(points: readonly Point[]): (readonly [Point, Point])[] {
  const lengthOf = ([a, b]: readonly [Point, Point]): number => Math.abs(a.x - b.x) + Math.abs(a.y - b.y)
  return points
    .slice(1)
    .map((point, at) => [points[at] as Point, point] as const)
    .sort((one, other) => lengthOf(other) - lengthOf(one))
}

const isFree = (box: Box, taken: readonly Box[], { width, height }: Layout): boolean =>
  box.x >= 0 &&
  box.y >= 0 &&
  box.x + box.width <= width &&
  box.y + box.height <= height &&
  !taken.some((other) => touches(box, other))

export const touches = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width + gap && b.x < a.x + a.width + gap && a.y < b.y + b.height + gap && b.y < a.y + a.height + gap

function crossedBy(box: Box, { lines }: Layout, own: string): number {
  let count = 0
  for (const [edge, points] of lines) {
    if (edge === own) continue
    const isCrossed = points.some((b, at) => {
      const a = points[at - 1]
      if (a === undefined) return false
      return (
        Math.max(a.x, b.x) > box.x &&
        Math.min(a.x, b.x) < box.x + box.width &&
        Math.max(a.y, b.y) > box.y &&
        Math.min(a.y, b.y) < box.y + box.height
      )
    })
    if (isCrossed) count++
  }
  return count
}
