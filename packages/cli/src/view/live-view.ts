import { activeCall, type Canvas } from './call-lines.ts'
import type { Colors } from './colors.ts'
import { saidLines } from './said-lines.ts'
import { kindOf, Scroll } from './scroll.ts'
import type { SessionItem, SessionView } from './session-view.ts'
import { TerminalScreen } from './terminal-screen.ts'
import type { View } from './view.ts'

export interface LiveViewOptions {
  readonly out: NodeJS.WriteStream
  readonly colors: Colors
  /** Milliseconds on the clock of the frames. */
  readonly now: () => number
  /** The last lines of the screen: an open prompt, a hint. */
  readonly footer?: (canvas: Canvas) => readonly string[]
}

const tickMs = 80
/**
 * Terminals rewrap lines before they report a new size, some (tmux) a quarter of a second later: drawing in between
 * would count wrong rows. So nothing is drawn until the size has been stable for this long.
 */
const steadyMs = 400

/** A part of the picture: `tail` is dropped first if there is no room. */
interface Part {
  readonly head: readonly string[]
  readonly tail: readonly string[]
  readonly isCall: boolean
}

/** A session in a terminal: finished parts go into the scrollback, the rest is redrawn in place. */
export function liveView(session: SessionView, { out, colors, now, footer = () => [] }: LiveViewOptions): View {
  const screen = new TerminalScreen(out)
  const scroll = new Scroll(session)
  let isDue = false
  let timer: NodeJS.Timeout | undefined
  let resizing: NodeJS.Timeout | undefined

  const canvas = (): Canvas => ({
    columns: Math.max(20, screen.columns - 1),
    rows: screen.rows,
    colors,
    now: now(),
  })
  const draw = (): void => {
    isDue = false
    if (screen.isResized) onResize()
    if (resizing !== undefined) return
    const on = canvas()
    const stays = scroll.take(on)
    const bottom = footer(on)
    const parts = partsOf(scroll, session, on, screen.rows)
    screen.draw(stays, fitted(parts, bottom, screen.rows - 1, on))
    schedule(parts.length > 0 || bottom.length > 0)
  }
  /** Redraws from time to time while something spins or counts. */
  const schedule = (isAlive: boolean): void => {
    if (!isAlive) clearInterval(timer)
    timer = isAlive ? (timer ?? setInterval(draw, tickMs)) : undefined
  }
  const onResize = (): void => {
    clearTimeout(resizing)
    screen.noteSize()
    resizing = setTimeout(() => {
      resizing = undefined
      draw()
    }, steadyMs)
  }
  out.on('resize', onResize)

  return {
    changed() {
      if (isDue) return
      isDue = true
      setImmediate(() => {
        if (isDue) draw()
      })
    },
    end() {
      session.endSaying()
      isDue = false
      schedule(false)
      clearTimeout(resizing)
      out.off('resize', onResize)
      const on = canvas()
      // calls that never finished stay as last drawn
      const stays = [...scroll.take(on), ...partsOf(scroll, session, on, screen.rows).flatMap(({ head }) => head)]
      screen.draw(stays, [])
      screen.end()
    },
  }
}

function partsOf(scroll: Scroll, session: SessionView, on: Canvas, rows: number): Part[] {
  const items = scroll.rest
  return items.flatMap((item, index): Part[] => {
    const before = items[index - 1]
    const isApart = before === undefined ? scroll.needsGap(item) : kindOf(before) !== kindOf(item)
    const part = partOf(item, session, on, rows)
    if (part.head.length === 0) return []
    return [isApart ? { ...part, head: ['', ...part.head] } : part]
  })
}

function partOf(item: SessionItem, session: SessionView, on: Canvas, rows: number): Part {
  if (item.kind === 'call') return { ...activeCall(item, session, on), isCall: true }
  if (item.text.trim() === '') return { head: [], tail: [], isCall: false }
  const lines = saidLines(item, on)
  const most = Math.max(2, Math.floor(rows / 3))
  return { head: lines.length > most ? ['…', ...lines.slice(-most)] : lines, tail: [], isCall: false }
}

/** Fits the picture to the terminal's rows: drops output first, then the latest calls. */
function fitted(parts: readonly Part[], bottom: readonly string[], room: number, { colors }: Canvas): string[] {
  const all = parts.flatMap(({ head, tail }) => [...head, ...tail])
  if (all.length + bottom.length <= room) return [...all, ...bottom]
  const below = bottom.slice(-Math.max(1, room - 1))
  const left = room - below.length
  const heads = parts.flatMap(({ head }) => head)
  if (heads.length <= left) return [...heads, ...below]
  const shown: string[] = []
  let count = 0
  for (const { head } of parts) {
    if (shown.length + head.length > left - 1) break
    shown.push(...head)
    count++
  }
  const missing = parts.slice(count).filter(({ isCall }) => isCall).length
  if (left > 0) shown.push(colors.dim(missing > 0 ? `… and ${missing} more calls` : '…'))
  return [...shown, ...below]
}
