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
import type { Run } from '../model/model.ts'
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

  function viewOf(whole: Run): TimelineView {
    const to = state.position === undefined ? now : Math.max(history.model.at, whole.startedAt + 1)
    const last =
      whole.yielded === whole.calls.length
        ? Math.max(...whole.calls.map((each) => each.yieldedAt ?? 0), whole.startedAt + 1)
        : to
    const end = whole.calls.length > 0 && whole.yielded === whole.calls.length ? last * 1.002 : to
    const rows = whole.calls.length * rowHeightOf(whole.calls.length, size.height)
    // follow the active calls until the user scrolls
    const next = shownRun?.cursor.next ?? 0
    const followed = Math.max(0, (next - 2) * rowHeightOf(whole.calls.length, size.height))
    const most = Math.max(0, rows - (size.height - axisHeight))
    const playhead = Math.min(state.position === undefined ? now : model.at, end)
    return {
      run: whole,
      from: whole.startedAt,
      to: end,
      playhead,
      chosen: call?.id,
      scroll: Math.min(scroll ?? followed, most),
      ...size,
    }
  }

  function at(event: { offsetX: number; offsetY: number }): { row: number; time: number } {
    if (view === undefined) return { row: -1, time: 0 }
    const row = Math.floor((event.offsetY - axisHeight + view.scroll) / rowHeightOf(view.run.calls.length, size.height))
    const gutter = gutterOf(size.width)
    const x = scaleOf(view, gutter)
    const time =
      view.from + ((event.offsetX - x(view.from)) / Math.max(1, x(view.to) - x(view.from))) * (view.to - view.from)
    return { row: event.offsetY < axisHeight ? -1 : row, time }
  }

  function onMove(event: PointerEvent): void {
    const { row, time } = at(event)
    const over = run?.calls[row]
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

  function seekTo(time: number): void {
    store.set({ position: history.positionAt(time), isPlaying: false })
  }

  return (
    <section class="panel timeline" aria-label="Timeline">
      <h2>
        <span class="title">Timeline</span>
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
          aria-label={`Timeline of ${run?.calls.length ?? 0} calls`}
          onPointerMove={onMove}
          onPointerLeave={() => setHint(undefined)}
          onClick={(event) => {
            const { row, time } = at(event)
            const over = run?.calls[row]
            if (row < 0) seekTo(time)
            else if (over !== undefined) store.select(over.id)
          }}
          onDblClick={(event) => seekTo(at(event).time)}
          onWheel={({ deltaY }) => setScroll(Math.max(0, (view?.scroll ?? 0) + deltaY))}
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
