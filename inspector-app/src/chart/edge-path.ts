interface Point {
  readonly x: number
  readonly y: number
}

const radius = 7

/** A line with rounded corners. */
export function edgePath(points: readonly Point[]): string {
  const [first, ...rest] = points
  if (first === undefined) return ''
  let path = `M${first.x} ${first.y}`
  for (let at = 0; at < rest.length; at++) {
    const [before, corner, after] = [points[at] as Point, rest[at] as Point, rest[at + 1]]
    if (after === undefined) path += ` L${corner.x} ${corner.y}`
    else {
      const into = towards(corner, before)
      const out = towards(corner, after)
      path += ` L${into.x} ${into.y} Q${corner.x} ${corner.y} ${out.x} ${out.y}`
    }
  }
  return path
}

/** The middle of the longest segment, where a label fits. */
export function labelPoint(points: readonly Point[]): Point {
  let best: Point = points[0] ?? { x: 0, y: 0 }
  let longest = -1
  for (let at = 1; at < points.length; at++) {
    const [a, b] = [points[at - 1] as Point, points[at] as Point]
    const length = Math.abs(a.x - b.x) + Math.abs(a.y - b.y)
    if (length <= longest) continue
    longest = length
    best = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 }
  }
  return best
}

function towards(from: Point, to: Point): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y)
  const step = Math.min(radius, length / 2) / (length || 1)
  return { x: round(from.x + (to.x - from.x) * step), y: round(from.y + (to.y - from.y) * step) }
}

const round = (value: number): number => Math.round(value * 10) / 10
