import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Call, Run } from '../model/model.ts'
import { useView } from '../use-view.ts'

interface RailScroll {
  readonly ref: RefObject<HTMLDivElement>
  readonly onScroll: () => void
  readonly onKeyDown: (event: KeyboardEvent) => void
  readonly onWheel: () => void
  readonly onTouchMove: () => void
  readonly onPointerDown: () => void
}

/** A list that shows the selected call or turn, has arrow keys, and follows its end until somebody scrolls away from it. */
export function useRailScroll(isShown: boolean, chosen: Call | undefined, turn: Run | undefined): RailScroll {
  const { state } = useView()
  const ref = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const isFollowing = useRef(false)
  /** The selection stays in view while the page is being built, until somebody scrolls. */
  const isPlaced = useRef(false)
  isFollowing.current = state.source === 'live' && state.position === undefined && chosen === undefined
  useLayoutEffect(() => {
    const list = ref.current
    if (list === null) return
    const watch = new ResizeObserver(() => {
      if (isFollowing.current && isAtEnd.current) showEnd(list)
      else if (isPlaced.current) showSelected(list)
    })
    // a question above it takes room, and a turn adds to it
    for (const each of [list, ...list.children]) watch.observe(each)
    return () => watch.disconnect()
  }, [isShown])
  useLayoutEffect(() => {
    const list = ref.current
    isPlaced.current = chosen !== undefined || turn !== undefined
    if (list !== null && isPlaced.current) showSelected(list)
  }, [chosen, turn])
  const onScroll = (): void => {
    const list = ref.current
    if (list !== null) isAtEnd.current = list.scrollHeight - list.scrollTop - list.clientHeight < 24
  }
  const leave = (): void => {
    isPlaced.current = false
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    leave()
    const list = ref.current
    const next = list === null ? undefined : lineAfter(list, event.key)
    if (next === undefined) return
    next.focus()
    event.preventDefault()
    event.stopPropagation()
  }
  return { ref, onScroll, onKeyDown, onWheel: leave, onTouchMove: leave, onPointerDown: leave }
}

/** Scrolls to the selected call, or else to the selected turn, if it is not in view. */
function showSelected(list: HTMLElement): void {
  const line = list.querySelector('.line.chosen')
  const found = line ?? list.querySelector('.turn.shown h3')
  if (found === null) return
  const [view, { top, bottom }] = [list.getBoundingClientRect(), found.getBoundingClientRect()]
  // a call in the middle, so that what led to it is in view too
  const by = line === null ? top - view.top : (top + bottom - view.top - view.bottom) / 2
  if (top < view.top || bottom > view.bottom) list.scrollTop += by
}

/** The line of the list to which a key leads from the focused one: at first to the selected one, or the first in view. */
function lineAfter(list: HTMLElement, key: string): HTMLElement | undefined {
  const step = { ArrowDown: 1, ArrowUp: -1, Home: Number.NEGATIVE_INFINITY, End: Number.POSITIVE_INFINITY }[key]
  const { activeElement } = list.getRootNode() as Document | ShadowRoot
  const lines = [...list.querySelectorAll<HTMLElement>('button')]
  const at = lines.indexOf(activeElement as HTMLElement)
  if (step === undefined || lines.length === 0) return undefined
  if (at >= 0) return lines[Math.max(0, Math.min(lines.length - 1, at + step))]
  // the list itself has the focus: Home and End belong to the page
  if (!Number.isFinite(step)) return undefined
  const { top } = list.getBoundingClientRect()
  return (
    list.querySelector<HTMLElement>('.line.chosen') ?? lines.find((line) => line.getBoundingClientRect().top >= top)
  )
}

/** Scrolls to the end, and a little further if a line is cut at the top: half a line reads as a mistake. */
function showEnd(list: HTMLElement): void {
  list.style.setProperty('--rest', '0px')
  list.scrollTop = list.scrollHeight
  if (list.scrollTop === 0) return
  const { left, top, width } = list.getBoundingClientRect()
  const found = (list.getRootNode() as Document | ShadowRoot).elementFromPoint(left + width / 2, top + 1)
  const line = found?.closest('.line, .said p, .said, .turn h3, .agent > .sum')
  if (line == null || !list.contains(line)) return
  const { bottom, height } = line.getBoundingClientRect()
  const lineHeight = Number.parseFloat(getComputedStyle(line).lineHeight)
  // of a text with several lines, only one is cut
  const isText = height > 2 * lineHeight
  const rest = isText ? (bottom - top) % lineHeight : bottom - top
  list.style.setProperty('--rest', `${Math.ceil(rest)}px`)
  list.scrollTop = list.scrollHeight
}
