import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import {
  drawTimeline,
  gutterOf,
  type Palette,
  rowHeightOf,
  scaleOf,
  type TimelineView,
  topOf,
} from '../draw/draw-timeline.ts'
import { isConversation } from '../model/conversation.ts'
import { criticalPath } from '../model/critical-path.ts'
import type { Call, Run } from '../model/model.ts'
import { profileOf } from '../model/profile.ts'
import { bandsOf, rowsOfAll, rowsOfTurn } from '../model/timeline-rows.ts'
import { useStore, useView } from '../use-view.ts'
import { duration, isFromLog, outcomeOf } from '../words.ts'
import { phaseName } from './call-details.tsx'
import { Icon } from './icons.tsx'
import { Totals } from './totals.tsx'
import { useNow } from './use-now.ts'

const colours = [
  'queued',
  'shared',
  'exclusive',
  'held',
  'ok',
  'error',
  'aborted',
  'unknown',
  'text',
  'faint',
  'line',
  'chosen',
  'chosenRun',
  'veil',
  'playhead',
  'font',
]

/** Read from the page's CSS variables, so that it follows the theme. Slow: the browser must compute the styles first. */
function paletteOf(element: Element): Palette {
  const style = getComputedStyle(element)
  return Object.fromEntries(colours.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]))
}

/** Every colour of the plot. */
/** Colours that are drawn seldom are explained when they are. */
const isDrawn: Readonly<Record<string, (call: Call) => boolean>> = {
  background: ({ detached }) => detached !== undefined,
  'dot unknown': (call) => outcomeOf(call) === 'unknown',
  'dot from-log': isFromLog,
}

const legend = [
  ['queued', 'queued'],
  ['shared', 'shared'],
  ['exclusive', 'exclusive'],
  ['asking', 'asks, sent'],
  ['background', 'background'],
  ['held', 'held'],
  ['dot ok', 'ok'],
  ['dot error', 'error'],
  ['dot aborted', 'stopped'],
  ['dot unknown', 'unknown (?)'],
  ['dot from-log', 'from the log'],
] as const

/** The canvas does not follow the scheme of the system by itself. */
function useDarkScheme(): boolean {
  const [query] = useState(() => matchMedia('(prefers-color-scheme: dark)'))
  const [isDark, setDark] = useState(query.matches)
  useEffect(() => {
    const follow = (): void => setDark(query.matches)
    query.addEventListener('change', follow)
    return () => query.removeEventListener('change', follow)
  }, [query])
  return isDark
}

export function Timeline() {
  const store = useStore()
  const { history, run: shownRun, model, call, isChosen, state } = useView()
  const canvas = useRef<HTMLCanvasElement>(null)
  const palette = useRef<{ readonly theme: string; readonly colours: Palette } | undefined>()
  const [size, setSize] = useState({ width: 600, height: 240 })
  const [scroll, setScroll] = useState<number | undefined>()
  const [zoom, setZoom] = useState<readonly [from: number, to: number] | undefined>()
  const [isAll, setAll] = useState(false)
  const [isCritical, setCritical] = useState(false)
  const [isTotals, setTotals] = useState(false)
  const dragged = useRef<{ time: number; x: number; isRange: boolean } | undefined>()
  const [hint, setHint] = useState<{ x: number; y: number; text: string } | undefined>()
  const now = useNow()
  const isDark = useDarkScheme()
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
    const theme = `${state.theme} ${isDark}`
    if (palette.current?.theme !== theme) palette.current = { theme, colours: paletteOf(element) }
    drawTimeline(context, view, palette.current.colours)
  })

  // a selection made elsewhere is shown
  useEffect(() => {
    if (view === undefined || !isChosen) return
    const top = topOf(view)
    const y = view.rows.findIndex((each) => each.run === run && each.call.id === call?.id)
    const row = y * rowHeightOf(view.rows.length, size.height - top)
    if (row < view.scroll || row > view.scroll + size.height - top - 12) setScroll(undefined)
  }, [call?.id, run?.id])
  // another turn has other times
  useEffect(() => {
    if (!isAll) setZoom(undefined)
  }, [run?.id, isAll])

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
    const bands = isAll ? bandsOf(history.model) : []
    const room = size.height - topOf({ bands })
    const rowHeight = rowHeightOf(rows.length, room)
    // follow the selected call, else the active ones, until the user scrolls
    const followedCall = isChosen ? call?.index : (shownRun?.cursor.next ?? 0)
    const next = rows.findIndex(({ run: of, call: each }) => of === whole && each.index === followedCall)
    const followed = Math.max(0, (Math.max(0, next) - 2) * rowHeight)
    const most = Math.max(0, rows.length * rowHeight - room)
    const playhead = Math.min(state.position === undefined ? now : model.at, end)
    // the time before the first call belongs to the model
    const start = isAll ? (rows[0]?.run.startedAt ?? whole.startedAt) : (whole.calls[0]?.addedAt ?? whole.startedAt)
    return {
      rows,
      bands,
      origin: isAll ? history.origin : whole.startedAt,
      from: shownPart?.[0] ?? start,
      to: shownPart?.[1] ?? end,
      playhead,
      chosen: call?.id,
      chosenRun: shownRun?.id,
      critical: isCritical ? criticalPath(rows) : [],
      range: state.range,
      scroll: Math.min(scroll ?? followed, most),
      ...size,
    }
  }

  function at(event: { offsetX: number; offsetY: number }): { row: number; time: number } {
    if (view === undefined) return { row: -1, time: 0 }
    const top = topOf(view)
    const row = Math.floor((event.offsetY - top + view.scroll) / rowHeightOf(view.rows.length, size.height - top))
    const gutter = gutterOf(size.width)
    const x = scaleOf(view, gutter)
    const time =
      view.from + ((event.offsetX - x(view.from)) / Math.max(1, x(view.to) - x(view.from))) * (view.to - view.from)
    return { row: event.offsetY < top ? -1 : row, time }
  }

  function onMove(event: PointerEvent): void {
    const { row, time } = at(event)
    const over = view?.rows[row]?.call
    const segment = over?.segments.findLast((each) => each.from <= time)
    const drag = dragged.current
    if (event.buttons === 1 && row < 0) seekTo(time)
    else if (event.buttons === 1 && drag !== undefined && Math.abs(event.offsetX - drag.x) > 4) {
      drag.isRange = true
      store.set({ range: [Math.min(drag.time, time), Math.max(drag.time, time)] })
    }
    if (over === undefined || segment === undefined) return setHint(undefined)
    const { addedAt, yieldedAt } = over
    const what =
      yieldedAt !== undefined && time >= yieldedAt
        ? `handed over after ${duration(yieldedAt - addedAt)}`
        : `${phaseName(segment.path)} · ${duration((segment.to ?? view?.to ?? 0) - segment.from)}`
    setHint({ x: event.offsetX, y: event.offsetY, text: `${over.label} · ${what}` })
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

  const isNamed = (name: string): boolean => {
    const isIt = isDrawn[name]
    return isIt === undefined || (view?.rows.some(({ call: each }) => isIt(each)) ?? false)
  }
  return (
    <section class="panel timeline" aria-label="Timeline">
      <h2>
        <span class="title">Timeline</span>
        {isConversation(history.model) && (
          <button
            type="button"
            class="other"
            aria-pressed={isAll}
            onClick={() => {
              setAll(!isAll)
              setScroll(undefined)
            }}
          >
            {isAll ? 'this turn' : 'all turns'}
          </button>
        )}
        <button type="button" class="other" aria-pressed={isTotals} onClick={() => setTotals(!isTotals)}>
          totals
        </button>
        <button
          type="button"
          class="other"
          aria-pressed={isCritical}
          title="The calls that decided when the work ended"
          onClick={() => setCritical(!isCritical)}
        >
          critical path
        </button>
        {state.range !== undefined && view !== undefined && (
          <span class="range-chip">
            <button type="button" title="Zoom to the selected time" onClick={() => setZoom(state.range)}>
              {duration(Math.max(0, state.range[0] - view.origin))} – {duration(state.range[1] - view.origin)} selected
            </button>
            <button type="button" aria-label="Clear the selected time" onClick={() => store.set({ range: undefined })}>
              <Icon name="cross" />
            </button>
          </span>
        )}
        <span class="zoom">
          <button
            type="button"
            aria-label="Earlier"
            title="Earlier (Shift and wheel)"
            disabled={zoom === undefined}
            onClick={() => pan(-200)}
          >
            ‹
          </button>
          <button
            type="button"
            aria-label="Later"
            title="Later (Shift and wheel)"
            disabled={zoom === undefined}
            onClick={() => pan(200)}
          >
            ›
          </button>
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
      </h2>
      {isTotals && view !== undefined && (
        <Totals profile={profileOf(view.rows, isAll ? history.model.runs.values() : [run as Run], now, state.range)} />
      )}
      <div class="plot" hidden={isTotals}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={`Timeline of ${view?.rows.length ?? 0} calls`}
          onPointerMove={onMove}
          onPointerLeave={() => setHint(undefined)}
          onPointerDown={(event) => {
            if (event.button !== 0) return
            const { row, time } = at(event)
            dragged.current = row < 0 ? undefined : { time, x: event.offsetX, isRange: false }
            event.currentTarget.setPointerCapture(event.pointerId)
          }}
          onClick={(event) => {
            // the end of a drag is no click on a call
            if (dragged.current?.isRange === true) return
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
      <ul class="legend" aria-label="Colours" hidden={isTotals}>
        {legend
          .filter(([name]) => isNamed(name))
          .map(([name, words]) => (
            <li key={name}>
              <i class={name} />
              {words}
            </li>
          ))}
        {isCritical && (
          <li>
            <i class="critical" />
            critical path
          </li>
        )}
      </ul>
    </section>
  )
}
