import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import {
  axisHeight,
  drawTimeline,
  gutterOf,
  type Palette,
  rowHeightOf,
  scaleOf,
  type TimelineView,
} from '../draw/draw-timeline.ts'
import { isConversation } from '../model/conversation.ts'
import type { Run } from '../model/model.ts'
import { bandsOf, rowsOfAll, rowsOfTurn } from '../model/timeline-rows.ts'
import { useStore, useView } from '../use-view.ts'
import { duration } from '../words.ts'
import { phaseName } from './call-details.tsx'
import { useNow } from './use-now.ts'

const colours = [
  'queued',
  'shared',
  'exclusive',
  'held',
  'ok',
  'error',
  'aborted',
  'text',
  'faint',
  'line',
  'chosen',
  'veil',
  'playhead',
  'font',
]

/** Read from the page's CSS variables, so that it follows the theme. */
function paletteOf(element: Element): Palette {
  const style = getComputedStyle(element)
  return Object.fromEntries(colours.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]))
}

export function Timeline() {
  const store = useStore()
  const { history, run: shownRun, model, call, state } = useView()
  const canvas = useRef<HTMLCanvasElement>(null)
  const [size, setSize] = useState({ width: 600, height: 240 })
  const [scroll, setScroll] = useState<number | undefined>()
  const [zoom, setZoom] = useState<readonly [from: number, to: number] | undefined>()
  const [isAll, setAll] = useState(false)
  const [hint, setHint] = useState<{ x: number; y: number; text: string } | undefined>()
  const now = useNow()
  useEffect(() => {
    const box = canvas.current?.parentElement
    if (box == null) return
    const watch = new ResizeObserver(() => setSize({ width: box.clientWidth, height: box.clientHeight }))
    watch.observe(box)
    return () => watch.disconnect()
  }, [])
  // the full run; parts after the moment shown are drawn faintly
  const run = shownRun === undefined ? undefined : history.model.runs.get(shownRun.id)
  const view = run === undefined ? undefined : viewOf(run)
  useLayoutEffect(() => {
    const element = canvas.current
    const context = element?.getContext('2d')
    if (element == null || context == null || view === undefined) return
    const ratio = devicePixelRatio
    const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)]
    if (element.width !== width || element.height !== height) Object.assign(element, { width, height })
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    drawTimeline(context, view, paletteOf(element))
  })

  function viewOf(whole: Run, isUnzoomed = false): TimelineView {
    const shownPart = isUnzoomed ? undefined : zoom
    const to = state.position === undefined ? now : Math.max(history.model.at, whole.startedAt + 1)
    const last =
      whole.yielded === whole.calls.length
        ? Math.max(...whole.calls.map((each) => each.yieldedAt ?? 0), whole.startedAt + 1)
        : to
    const isOver = whole.calls.length > 0 && whole.yielded === whole.calls.length
    const end = isAll ? Math.max(to, last) : isOver ? last + (last - whole.startedAt) * 0.002 : to
    const rows = isAll ? rowsOfAll(history.model) : rowsOfTurn(whole)
    const rowHeight = rowHeightOf(rows.length, size.height)
    // follow the active calls until the user scrolls
    const next = rows.findIndex(
      ({ run: of, call: each }) => of === whole && each.index === (shownRun?.cursor.next ?? 0),
    )
    const followed = Math.max(0, (Math.max(0, next) - 2) * rowHeight)
    const most = Math.max(0, rows.length * rowHeight - (size.height - axisHeight))
    const playhead = Math.min(state.position === undefined ? now : model.at, end)
    // the time before the first call belongs to the model
    const start = isAll ? (rows[0]?.run.startedAt ?? whole.startedAt) : (whole.calls[0]?.addedAt ?? whole.startedAt)
    return {
      rows,
      bands: isAll ? bandsOf(history.model) : [],
      origin: isAll ? start : whole.startedAt,
      from: shownPart?.[0] ?? start,
      to: shownPart?.[1] ?? end,
      playhead,
      chosen: call?.id,
      scroll: Math.min(scroll ?? followed, most),
      ...size,
    }
  }

  function at(event: { offsetX: number; offsetY: number }): { row: number; time: number } {
    if (view === undefined) return { row: -1, time: 0 }
    const row = Math.floor((event.offsetY - axisHeight + view.scroll) / rowHeightOf(view.rows.length, size.height))
    const gutter = gutterOf(size.width)
    const x = scaleOf(view, gutter)
    const time =
      view.from + ((event.offsetX - x(view.from)) / Math.max(1, x(view.to) - x(view.from))) * (view.to - view.from)
    return { row: event.offsetY < axisHeight ? -1 : row, time }
  }

  function onMove(event: PointerEvent): void {
    const { row, time } = at(event)
    const over = view?.rows[row]?.call
    const segment = over?.segments.findLast((each) => each.from <= time)
    if (event.buttons === 1 && row < 0) seekTo(time)
    if (over === undefined || segment === undefined) return setHint(undefined)
    const length = (segment.to ?? view?.to ?? 0) - segment.from
    setHint({
      x: event.offsetX,
      y: event.offsetY,
      text: `${over.label} · ${phaseName(segment.path)} · ${duration(length)}`,
    })
  }

  /** Shows more or less of the time, around a moment. */
  function scale(factor: number, around?: number): void {
    if (view === undefined) return
    const whole = viewOf(run as Run, true)
    const middle = around ?? (view.from + view.to) / 2
    const [from, to] = [middle - (middle - view.from) * factor, middle + (view.to - middle) * factor]
    const isWhole = from <= whole.from && to >= whole.to
    setZoom(isWhole ? undefined : [Math.max(whole.from, from), Math.min(whole.to, Math.max(to, from + 1))])
  }

  function pan(by: number): void {
    if (zoom === undefined) return
    const shift = ((zoom[1] - zoom[0]) * by) / 800
    setZoom([zoom[0] + shift, zoom[1] + shift])
  }

  function seekTo(time: number): void {
    store.set({ position: history.positionAt(time), isPlaying: false })
  }

  return (
    <section class="panel timeline" aria-label="Timeline">
      <h2>
        <span class="title">Timeline</span>
        {isConversation(history.model) && (
          <button type="button" class="other" aria-pressed={isAll} onClick={() => setAll(!isAll)}>
            {isAll ? 'this turn' : 'all turns'}
          </button>
        )}
        <span class="zoom">
          <button
            type="button"
            aria-label="Zoom out"
            title="Zoom out"
            disabled={zoom === undefined}
            onClick={() => scale(2)}
          >
            −
          </button>
          <button type="button" aria-label="Zoom in" title="Zoom in (Ctrl and wheel)" onClick={() => scale(0.5)}>
            +
          </button>
        </span>
        <ul class="legend" aria-label="Colours">
          {(['queued', 'shared', 'exclusive', 'held'] as const).map((name) => (
            <li key={name}>
              <i class={name} />
              {name}
            </li>
          ))}
        </ul>
      </h2>
      <div class="plot">
        <canvas
          ref={canvas}
          role="img"
          aria-label={`Timeline of ${view?.rows.length ?? 0} calls`}
          onPointerMove={onMove}
          onPointerLeave={() => setHint(undefined)}
          onClick={(event) => {
            const { row, time } = at(event)
            const over = view?.rows[row]
            if (row < 0) seekTo(time)
            else if (over !== undefined) store.choose(over.run.id, over.call.id)
          }}
          onDblClick={(event) => seekTo(at(event).time)}
          onWheel={(event) => {
            if (event.ctrlKey) {
              event.preventDefault()
              scale(event.deltaY > 0 ? 1.25 : 0.8, at(event).time)
            } else if (event.shiftKey) pan(event.deltaY)
            else setScroll(Math.max(0, (view?.scroll ?? 0) + event.deltaY))
          }}
        />
        {hint !== undefined && (
          <span class="hint" style={{ left: `${Math.min(hint.x + 12, size.width - 220)}px`, top: `${hint.y + 14}px` }}>
            {hint.text}
          </span>
        )}
      </div>
    </section>
  )
}
