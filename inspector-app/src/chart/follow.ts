import { type Box, fitOf, type Room } from './graph.ts'

/** The part of a drawing that is shown. */
export interface ViewBox {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** A small chart in a large panel stays at this size. */
const maxFit = 1.7
/** The smallest names, which have 13 units, are 11 pixels high. */
const minFit = 0.85
const margin = 6

/**
 * The whole drawing if its names can be read then, otherwise the part around `focus` in readable letters. The part
 * stays where it was while it shows the focus.
 */
export function viewOf(
  { width, height }: Room,
  room: Room,
  focus: readonly Box[] | undefined,
  before: ViewBox | undefined,
): ViewBox {
  const whole = {
    width: Math.max(width + 2 * margin, room.width / maxFit),
    height: Math.max(height + 2 * margin, room.height / maxFit),
  }
  const centred = { x: (width - whole.width) / 2, y: (height - whole.height) / 2, ...whole }
  if (focus === undefined || focus.length === 0 || fitOf(whole, room) >= minFit) return centred
  const size = { width: room.width / minFit, height: room.height / minFit }
  const target = around(focus, size)
  if (before?.width === size.width && before.height === size.height && isInside(target, before)) return before
  return {
    x: placed(target.x + target.width / 2, size.width, width),
    y: placed(target.y + target.height / 2, size.height, height),
    ...size,
  }
}

/** All boxes if there is room for them, otherwise the last one. */
function around(boxes: readonly Box[], room: Room): Box {
  const x = Math.min(...boxes.map((box) => box.x))
  const y = Math.min(...boxes.map((box) => box.y))
  const width = Math.max(...boxes.map((box) => box.x + box.width)) - x
  const height = Math.max(...boxes.map((box) => box.y + box.height)) - y
  const fits = width + 2 * margin <= room.width && height + 2 * margin <= room.height
  return fits ? { x, y, width, height } : (boxes.at(-1) as Box)
}

/** Around the middle, but not beyond the drawing; a drawing that is smaller is centred. */
function placed(middle: number, size: number, drawing: number): number {
  if (size >= drawing + 2 * margin) return (drawing - size) / 2
  return Math.min(Math.max(middle - size / 2, -margin), drawing + margin - size)
}

const isInside = (box: Box, view: ViewBox): boolean =>
  box.x >= view.x &&
  box.y >= view.y &&
  box.x + box.width <= view.x + view.width &&
  box.y + box.height <= view.y + view.height
