import { type Box, fitOf, margin, type Room, readableFit } from './graph.ts'

/** A small chart in a large panel stays at this size. */
const maxFit = 1.7

/**
 * The whole drawing if its names can be read then, otherwise the part around `focus` in readable letters. The part
 * stays where it was while it shows the focus.
 */
export function viewOf(
  { width, height }: Room,
  room: Room,
  focus: readonly Box[] | undefined,
  before: Box | undefined,
): Box {
  const fit = Math.min(maxFit, fitOf({ width: width + 2 * margin, height: height + 2 * margin }, room))
  const whole = { width: room.width / fit, height: room.height / fit }
  const centred = { x: (width - whole.width) / 2, y: (height - whole.height) / 2, ...whole }
  if (focus === undefined || focus.length === 0 || fit >= readableFit) return centred
  const size = { width: room.width / readableFit, height: room.height / readableFit }
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

const isInside = (box: Box, view: Box): boolean =>
  box.x >= view.x &&
  box.y >= view.y &&
  box.x + box.width <= view.x + view.width &&
  box.y + box.height <= view.y + view.height
