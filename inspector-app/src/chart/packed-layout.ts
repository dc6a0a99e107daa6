import type { Layout } from './graph.ts'

/** A layout as short JSON: boxes as `[id, x, y, width, height]`, lines as `[id, x, y, x, y, …]`. */
export interface PackedLayout {
  readonly size: readonly [width: number, height: number]
  readonly boxes: readonly (readonly [id: number, x: number, y: number, width: number, height: number])[]
  readonly lines: readonly (readonly [id: string, ...points: number[]])[]
}

export const packLayout = ({ width, height, boxes, lines }: Layout): PackedLayout => ({
  size: [tenths(width), tenths(height)],
  boxes: Array.from(boxes, ([id, box]) => [id, tenths(box.x), tenths(box.y), tenths(box.width), tenths(box.height)]),
  lines: Array.from(lines, ([id, points]) => [id, ...points.flatMap(({ x, y }) => [tenths(x), tenths(y)])]),
})

export const unpackLayout = ({ size: [width, height], boxes, lines }: PackedLayout): Layout => ({
  width,
  height,
  boxes: new Map(boxes.map(([id, x, y, width, height]) => [id, { x, y, width, height }])),
  lines: new Map(lines.map(([id, ...points]) => [id, pairs(points)])),
})

const tenths = (value: number): number => Math.round(value * 10) / 10

function pairs(numbers: readonly number[]): { x: number; y: number }[] {
  const found: { x: number; y: number }[] = []
  for (let at = 0; at < numbers.length; at += 2) found.push({ x: numbers[at] as number, y: numbers[at + 1] as number })
  return found
}
