import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Call, Run } from '../model/model.ts'
import { useView } from '../use-view.ts'

interface RailScroll {
  readonly ref: RefObject<HTMLDivElement>
  readonly onScroll: () => void
}

/** A list that shows the selected call, and follows its end until somebody scrolls away from it. */
export function useRailScroll(last: Run | undefined, chosen: Call | undefined): RailScroll {
  const { state } = useView()
  const ref = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const isFollowing = state.source === 'live' && state.position === undefined && chosen === undefined
  useLayoutEffect(() => {
    const list = ref.current
    if (list !== null && isFollowing && isAtEnd.current) list.scrollTop = list.scrollHeight
  }, [isFollowing, last?.id, last?.calls.length, last?.said.length])
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
