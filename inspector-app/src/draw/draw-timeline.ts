import type { CriticalStep } from '../model/critical-path.ts'
import type { Call } from '../model/model.ts'
import type { TimeRange } from '../model/time-range.ts'
import { commonStart, type TimelineBand, type TimelineRow } from '../model/timeline-rows.ts'
import { backgroundTone, duration, isFromLog, outcomeOf } from '../words.ts'

export interface TimelineView {
  readonly rows: readonly TimelineRow[]
  readonly bands: readonly TimelineBand[]
  /** The time that the axis calls 0. */
  readonly origin: number
  /** The time range that is shown. */
  readonly from: number
  readonly to: number
  /** The moment shown; later parts are drawn faintly. */
  readonly playhead: number
  readonly chosen: string | undefined
  /** The run of this call: ids may repeat in others. */
  readonly chosenRun: number | undefined
  /** The calls that decided when the work ended; empty if it is not shown. */
  readonly critical: readonly CriticalStep[]
  readonly range: TimeRange | undefined
  readonly scroll: number
  readonly width: number
  readonly height: number
}

export type Palette = Readonly<Record<string, string>>

const axisHeight = 22
const bandHeight = 16

/** Where the rows begin: below the axis, and below the names of the turns. */
export const topOf = ({ bands }: Pick<TimelineView, 'bands'>): number =>
  bands.length === 0 ? axisHeight : axisHeight + bandHeight

export const gutterOf = (width: number): number => (width < 520 ? 132 : 168)

/** Rows share the height. If they would be too thin to read, they get the height of a label and the view scrolls. */
export function rowHeightOf(calls: number, height: number): number {
  const fits = Math.floor(height / Math.max(1, calls))
  return fits < 13 ? 14 : Math.min(22, fits)
}

/** Every call from its arrival to its result: waiting, each phase, held for order. */
export function drawTimeline(canvas: CanvasRenderingContext2D, view: TimelineView, palette: Palette): void {
  const { rows, width, height, scroll, playhead } = view
  const gutter = gutterOf(width)
  const top = topOf(view)
  const rowHeight = rowHeightOf(rows.length, height - top)
  const xOf = scaleOf(view, gutter)
  canvas.clearRect(0, 0, width, height)
  drawBands(canvas, view, palette, gutter, xOf)
  drawAxis(canvas, view, palette, gutter, xOf)
  canvas.save()
  canvas.beginPath()
  canvas.rect(0, top, width, height - top)
  canvas.clip()
  const first = Math.max(0, Math.floor(scroll / rowHeight))
  const last = Math.min(rows.length, Math.ceil((scroll + height) / rowHeight))
  const cuts = cutsOf(rows.slice(first, last))
  for (let index = first; index < last; index++) {
    const row = rows[index]
    if (row === undefined) continue
    const { run, call, depth } = row
    const y = top + index * rowHeight - scroll
    if (call.id === view.chosen && run.id === view.chosenRun) {
      canvas.fillStyle = palette.chosen as string
      canvas.fillRect(0, y, width, rowHeight)
    }
    canvas.save()
    canvas.beginPath()
    canvas.rect(gutter, y, width - gutter, rowHeight)
    canvas.clip()
    drawCall(canvas, call, y, rowHeight, xOf, view, palette)
    canvas.restore()
    if (rowHeight >= 12) drawName(canvas, call, y, rowHeight, gutter, depth, cuts.get(call.name) ?? 0, palette)
  }
  drawCritical(canvas, view, palette, gutter, rowHeight, xOf)
  canvas.restore()
  drawRange(canvas, view, palette, gutter, xOf)
  const x = Math.max(gutter, Math.min(width, xOf(playhead)))
  if (playhead < view.to) {
    canvas.fillStyle = palette.veil as string
    canvas.fillRect(x, top, width - x, height - top)
  }
  canvas.fillStyle = palette.playhead as string
  canvas.fillRect(Math.round(x) - 0.5, 0, 1.5, height)
}

export function scaleOf({ from, to, width }: TimelineView, gutter: number): (time: number) => number {
  const room = width - gutter - 12
  const length = Math.max(1, to - from)
  return (time) => gutter + ((time - from) / length) * room
}

function drawCall(
  canvas: CanvasRenderingContext2D,
  call: Call,
  y: number,
  rowHeight: number,
  xOf: (time: number) => number,
  view: TimelineView,
  palette: Palette,
): void {
  const thick = Math.max(3, Math.min(12, rowHeight - 6))
  const top = y + (rowHeight - thick) / 2
  for (const { path, from, to } of call.segments) {
    const [state] = path
    const end = to ?? (state === 'yielded' ? from : view.to)
    const [x, width] = [xOf(from), Math.max(1, xOf(end) - xOf(from))]
    if (state === 'yielded' || state === 'givenUp') continue
    if (state === 'queued') {
      canvas.fillStyle = palette.queued as string
      canvas.globalAlpha = 0.55
      canvas.fillRect(x, top + thick / 2 - 1, width, 2)
      canvas.globalAlpha = 1
    } else if (state === 'completed') {
      canvas.fillStyle = palette.held as string
      if (rowHeight >= 9) hatch(canvas, x, top, width, thick, palette.held as string)
      else canvas.fillRect(x, top, width, thick)
    } else {
      canvas.fillStyle = palette[call.lane] as string
      // some nested phases wait: for a person, or for a worker
      const isWaiting = path[2] === 'asking' || path[2] === 'later' || path[2] === 'sent'
      canvas.globalAlpha = isWaiting ? 0.45 : 1
      canvas.fillRect(x, top, Math.max(1, width - (width > 4 ? 1 : 0)), thick)
      canvas.globalAlpha = 1
    }
  }
  const { detached } = call
  if (detached !== undefined) {
    // its body goes on below the end of the call
    const [x, end] = [xOf(detached.from), xOf(detached.to ?? view.to)]
    canvas.fillStyle = palette[call.lane] as string
    canvas.globalAlpha = 0.45
    canvas.fillRect(x, top + thick / 4, Math.max(1, end - x), Math.max(2, thick / 2))
    canvas.globalAlpha = 1
    if (detached.to !== undefined) {
      canvas.fillStyle = palette[backgroundTone(call, detached.status)] as string
      drawDot(canvas, end, top + thick / 2, thick)
    }
  }
  if (call.yieldedAt !== undefined) {
    canvas.fillStyle = palette[outcomeOf(call)] as string
    const size = dotSize(thick)
    // a result of an earlier process is striped
    if (isFromLog(call)) {
      const half = size / 2 + 1
      hatch(
        canvas,
        xOf(call.yieldedAt) - half,
        top + thick / 2 - half,
        size + 2,
        size + 2,
        palette[outcomeOf(call)] as string,
      )
    } else drawDot(canvas, xOf(call.yieldedAt), top + thick / 2, thick)
    if (outcomeOf(call) === 'unknown') drawMark(canvas, '?', xOf(call.yieldedAt) + size, top + thick / 2, palette)
  }
}

const dotSize = (thick: number): number => Math.min(7, Math.max(3, thick))

/** The end of a call. */
function drawDot(canvas: CanvasRenderingContext2D, x: number, y: number, thick: number): void {
  canvas.beginPath()
  canvas.arc(x, y, dotSize(thick) / 2, 0, 7)
  canvas.fill()
}

/** So that the colour is not the only sign. */
function drawMark(canvas: CanvasRenderingContext2D, mark: string, x: number, y: number, palette: Palette): void {
  canvas.font = `bold 11px ${palette.font}`
  canvas.textBaseline = 'middle'
  canvas.textAlign = 'left'
  canvas.fillText(mark, x, y)
}

/** Stripes for results that are finished but held for order. */
function hatch(
  canvas: CanvasRenderingContext2D,
  x: number,
  y: number,
  width: number,
  height: number,
  colour: string,
): void {
  canvas.save()
  canvas.beginPath()
  canvas.rect(x, y, width, height)
  canvas.clip()
  canvas.globalAlpha = 0.22
  canvas.fillRect(x, y, width, height)
  canvas.globalAlpha = 0.9
  canvas.strokeStyle = colour
  canvas.lineWidth = 1.4
  canvas.beginPath()
  const start = Math.floor(x / 6) * 6 - height
  for (let at = start; at < x + width; at += 6) {
    canvas.moveTo(at, y + height)
    canvas.lineTo(at + height, y)
  }
  canvas.stroke()
  canvas.restore()
}

function drawName(
  canvas: CanvasRenderingContext2D,
  call: Call,
  y: number,
  rowHeight: number,
  gutter: number,
  depth: number,
  cut: number,
  palette: Palette,
): void {
  const indent = Math.min(depth, 3) * 10
  canvas.font = `11px ${palette.font}`
  canvas.textBaseline = 'middle'
  canvas.textAlign = 'right'
  canvas.fillStyle = palette.faint as string
  canvas.fillText(String(call.index + 1), 24 + indent, y + rowHeight / 2 + 0.5)
  canvas.textAlign = 'left'
  canvas.fillStyle = palette.text as string
  canvas.fillText(fitText(canvas, call.label, gutter - 40 - indent, cut), 31 + indent, y + rowHeight / 2 + 0.5)
}

/** Per tool, how many characters after the bracket are the same in all names that are shown. */
function cutsOf(rows: readonly TimelineRow[]): ReadonlyMap<string, number> {
  const labels = new Map<string, string[]>()
  for (const { call } of rows) {
    const known = labels.get(call.name)
    if (known === undefined) labels.set(call.name, [call.label])
    else known.push(call.label)
  }
  return new Map(Array.from(labels, ([name, all]) => [name, commonStart(all)]))
}

function fitText(canvas: CanvasRenderingContext2D, text: string, width: number, cut: number): string {
  const fits = (each: string): boolean => canvas.measureText(each).width <= width
  if (fits(text)) return text
  // what all names share goes first
  const start = text.indexOf('(') + 1
  const shared = cut > 0 && start > 0 ? `${text.slice(0, start)}…/${text.slice(start + cut)}` : text
  if (fits(shared)) return shared
  let length = Math.floor((shared.length * width) / canvas.measureText(shared).width)
  // paths differ at their ends: leave out the middle
  const middle = (): string => `${shared.slice(0, Math.ceil(length * 0.4))}…${shared.slice(-Math.floor(length * 0.6))}`
  while (length > 2 && !fits(middle())) length--
  return middle()
}

/** A line below each call of the critical path, and from each end to the start that it allowed. */
function drawCritical(
  canvas: CanvasRenderingContext2D,
  { rows, critical, scroll, width, height, bands }: TimelineView,
  palette: Palette,
  gutter: number,
  rowHeight: number,
  xOf: (time: number) => number,
): void {
  if (critical.length === 0) return
  const top = topOf({ bands })
  const rowOf = new Map(rows.map(({ call }, at) => [call, at]))
  canvas.save()
  canvas.beginPath()
  canvas.rect(gutter, top, width - gutter, height - top)
  canvas.clip()
  canvas.strokeStyle = palette.error as string
  canvas.lineWidth = 1.6
  canvas.beginPath()
  let before: { x: number; y: number } | undefined
  for (const { call, from, to } of critical) {
    const y = top + ((rowOf.get(call) ?? 0) + 1) * rowHeight - scroll - 1.5
    if (before !== undefined) {
      canvas.moveTo(before.x, before.y)
      canvas.lineTo(xOf(from), before.y)
      canvas.lineTo(xOf(from), y)
    }
    canvas.moveTo(xOf(from), y)
    canvas.lineTo(xOf(to), y)
    before = { x: xOf(to), y }
  }
  canvas.stroke()
  canvas.restore()
}

/** Draws a veil over everything outside the selected range. */
function drawRange(
  canvas: CanvasRenderingContext2D,
  { range, width, height }: TimelineView,
  palette: Palette,
  gutter: number,
  xOf: (time: number) => number,
): void {
  if (range === undefined) return
  const bounded = (x: number): number => Math.max(gutter, Math.min(width, x))
  const [from, to] = [bounded(xOf(range[0])), bounded(xOf(range[1]))]
  canvas.fillStyle = palette.veil as string
  canvas.fillRect(gutter, axisHeight, from - gutter, height - axisHeight)
  canvas.fillRect(to, axisHeight, width - to, height - axisHeight)
  canvas.fillStyle = palette.chosen as string
  canvas.fillRect(from, 0, to - from, height)
  canvas.fillStyle = palette.playhead as string
  for (const x of [from, to]) canvas.fillRect(x - 0.5, 0, 1, height)
}

/** Every other turn has a tint, and each its name below the axis. */
function drawBands(
  canvas: CanvasRenderingContext2D,
  { bands, from, to, height }: TimelineView,
  palette: Palette,
  gutter: number,
  xOf: (time: number) => number,
): void {
  canvas.font = `10.5px ${palette.font}`
  canvas.textAlign = 'left'
  canvas.textBaseline = 'middle'
  for (const [at, band] of bands.entries()) {
    const [x, end] = [Math.max(gutter, xOf(Math.max(from, band.from))), xOf(Math.min(to, band.to ?? to))]
    if (end - x < 2) continue
    canvas.fillStyle = palette.chosen as string
    if (at % 2 === 1) canvas.fillRect(x, 0, end - x, height)
    canvas.fillStyle = palette.text as string
    const [whole, short] = [band.label, band.label.replace(/:.*/, '')]
    const label = [whole, short].find((each) => canvas.measureText(each).width <= end - x - 6)
    if (label !== undefined) canvas.fillText(label, x + 3, axisHeight + bandHeight / 2)
  }
}

function drawAxis(
  canvas: CanvasRenderingContext2D,
  { from, to, origin, width, height }: TimelineView,
  palette: Palette,
  gutter: number,
  xOf: (time: number) => number,
): void {
  const length = Math.max(1, to - from)
  const step = niceStep(length / Math.max(2, (width - gutter) / 90))
  canvas.font = `10.5px ${palette.font}`
  canvas.textAlign = 'center'
  canvas.textBaseline = 'middle'
  const first = Math.ceil((from - origin) / step) * step
  for (let at = first; at <= to - origin; at += step) {
    const x = Math.round(xOf(origin + at)) + 0.5
    canvas.fillStyle = palette.line as string
    canvas.fillRect(x, axisHeight, 1, height - axisHeight)
    canvas.fillStyle = palette.faint as string
    if (x < width - 20) canvas.fillText(at === 0 ? '0' : duration(at), x, axisHeight / 2)
  }
}

function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)))
  return ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power
}
