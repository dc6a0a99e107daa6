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

/** The size of letters in the units of the layout: at least 11 pixels on the screen. */
export const letterSize = (fit: number): number => Math.max(7.5, Math.ceil(22 / Math.max(fit, 0.1)) / 2)

const gap = 2
/** A label that covers more lines of other edges than this belongs to none of them. */
const maxCrossed = 1

/**
 * Places labels beside their edges. No label covers a state, the name of a group or another label. A label without
 * room is left out, unless it is needed: then the nearest free place is taken. The label of an edge in view is in view.
 */
export function placeLabels(
  chart: ChartDefinition,
  layout: Layout,
  wanted: readonly Wanted[],
  letter: number,
  view?: Box,
): PlacedLabel[] {
  const drawing = { x: 0, y: 0, width: layout.width, height: layout.height }
  const taken: Box[] = obstaclesOf(chart, layout)
  const placed: PlacedLabel[] = []
  const inOrder = [...wanted].sort((a, b) => Number(b.isNeeded === true) - Number(a.isNeeded === true))
  for (const { edge, lines: text, isNeeded = false } of inOrder) {
    const points = layout.lines.get(edge)
    if (points === undefined || points.length < 2 || text.length === 0) continue
    const room = view !== undefined && points.some((point) => isIn(point, view)) ? view : drawing
    // a needed label is rather broken into more lines than missing
    const forms = isNeeded ? [text, text.flatMap((line) => line.split(' '))] : [text]
    for (const lines of forms) {
      const width = Math.max(...lines.map((line) => line.length)) * letter * 0.61 + letter
      const height = lines.length * letter * 1.3 + letter * 0.4
      const box =
        besideLine(points, width, height, taken, room, layout, edge) ??
        (isNeeded ? nearest(points, width, height, taken, room) : undefined)
      if (box === undefined) continue
      taken.push(box)
      placed.push({ ...box, edge, lines, letter })
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
  room: Box,
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
        if (!isFree(box, taken, room)) continue
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
  room: Box,
): Box | undefined {
  const [[a, b] = [points[0] as Point, points[0] as Point]] = segmentsOf(points)
  const middle = { x: (a.x + b.x) / 2 - width / 2, y: (a.y + b.y) / 2 - height / 2 }
  // the nearest free place is, on each axis, in the middle or beside something
  const away = gap + 0.01
  const byDistance = (places: number[], from: number): number[] =>
    places.sort((one, other) => Math.abs(one - from) - Math.abs(other - from))
  const xs = byDistance(
    [middle.x, ...taken.flatMap((box) => [box.x - width - away, box.x + box.width + away])],
    middle.x,
  )
  const ys = byDistance(
    [middle.y, ...taken.flatMap((box) => [box.y - height - away, box.y + box.height + away])],
    middle.y,
  )
  let best: { box: Box; distance: number } | undefined
  for (const x of xs) {
    for (const y of ys) {
      const distance = Math.hypot(x - middle.x, y - middle.y)
      if (distance >= (best?.distance ?? Number.POSITIVE_INFINITY)) break
      const box = { x, y, width, height }
      if (isFree(box, taken, room)) best = { box, distance }
    }
  }
  return best?.box
}

/** Longest first. */
function segmentsOf(points: readonly Point[]): (readonly [Point, Point])[] {
  const lengthOf = ([a, b]: readonly [Point, Point]): number => Math.abs(a.x - b.x) + Math.abs(a.y - b.y)
  return points
    .slice(1)
    .map((point, at) => [points[at] as Point, point] as const)
    .sort((one, other) => lengthOf(other) - lengthOf(one))
}

const isFree = (box: Box, taken: readonly Box[], room: Box): boolean =>
  box.x >= room.x &&
  box.y >= room.y &&
  box.x + box.width <= room.x + room.width &&
  box.y + box.height <= room.y + room.height &&
  !taken.some((other) => touches(box, other))

const isIn = ({ x, y }: Point, box: Box): boolean =>
  x >= box.x && y >= box.y && x <= box.x + box.width && y <= box.y + box.height

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
