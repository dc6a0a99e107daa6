import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

interface Props {
  readonly count: number
  readonly rowHeight: number
  /** The row to scroll into view when it changes; if it is the last row, the list follows its end. */
  readonly focus: number
  readonly label: string
  readonly row: (index: number) => ComponentChildren
  readonly onRange?: (from: number, to: number) => void
  readonly class?: string
}

/** Draws only the visible rows. */
export function VirtualList({ count, rowHeight, focus, label, row, onRange, class: name = '' }: Props) {
  const ref = useRef<HTMLDivElement>(null)
  const isFollowing = useRef(true)
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(300)
  useEffect(() => {
    const element = ref.current
    if (element === null) return
    const watch = new ResizeObserver(() => setHeight(element.clientHeight))
    watch.observe(element)
    return () => watch.disconnect()
  }, [])
  const [lastFocus, setLastFocus] = useState(-1)
  useLayoutEffect(() => {
    const element = ref.current
    if (element === null || (!isFollowing.current && focus === lastFocus)) return
    setLastFocus(focus)
    if (!isFollowing.current && focus === count - 1) return
    const wanted = focus * rowHeight
    if (wanted < element.scrollTop || wanted + rowHeight > element.scrollTop + element.clientHeight) {
      element.scrollTop = Math.max(0, wanted - element.clientHeight + rowHeight * 2)
    }
  }, [focus, count])
  const from = Math.max(0, Math.floor(top / rowHeight) - 4)
  const to = Math.min(count, Math.ceil((top + height) / rowHeight) + 4)
  useEffect(() => onRange?.(from, to), [from, to])
  return (
    <div
      ref={ref}
      class={`virtual ${name}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard
      tabIndex={0}
      onScroll={({ currentTarget }) => {
        setTop(currentTarget.scrollTop)
        const end = currentTarget.scrollHeight - currentTarget.clientHeight
        isFollowing.current = currentTarget.scrollTop >= end - rowHeight * 2
      }}
    >
      <div class="space" style={{ height: `${count * rowHeight}px` }}>
        <ol class="window" aria-label={label} style={{ transform: `translateY(${from * rowHeight}px)` }}>
          {Array.from({ length: Math.max(0, to - from) }, (_, offset) => row(from + offset))}
        </ol>
      </div>
    </div>
  )
}
