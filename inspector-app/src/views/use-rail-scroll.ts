import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Call } from '../model/model.ts'
import { useView } from '../use-view.ts'

interface RailScroll {
  readonly ref: RefObject<HTMLDivElement>
  readonly onScroll: () => void
}

/** A list that shows the selected call, and follows its end until somebody scrolls away from it. */
export function useRailScroll(isShown: boolean, chosen: Call | undefined): RailScroll {
  const { state } = useView()
  const ref = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const isFollowing = useRef(false)
  isFollowing.current = state.source === 'live' && state.position === undefined && chosen === undefined
  useLayoutEffect(() => {
    const list = ref.current
    if (list === null) return
    const watch = new ResizeObserver(() => {
      if (isFollowing.current && isAtEnd.current) showEnd(list)
    })
    // a question above it takes room, and a turn adds to it
    for (const each of [list, ...list.children]) watch.observe(each)
    return () => watch.disconnect()
  }, [isShown])
  useLayoutEffect(() => {
    const list = ref.current
    const line = list?.querySelector('.line.chosen')
    if (list === null || line == null) return
    const [view, { top, bottom }] = [list.getBoundingClientRect(), line.getBoundingClientRect()]
    // in the middle, so that what led to it is in view too
    if (top < view.top || bottom > view.bottom) list.scrollTop += (top + bottom - view.top - view.bottom) / 2
  }, [chosen])
  const onScroll = (): void => {
    const list = ref.current
    if (list !== null) isAtEnd.current = list.scrollHeight - list.scrollTop - list.clientHeight < 24
  }
  return { ref, onScroll }
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
