import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { viewOf } from '../chart/follow.ts'
import type { Box, Room } from '../chart/graph.ts'

interface PanZoom {
  readonly box: Box
  /** The same before a person moved it. */
  readonly view: Box
  readonly reset: () => void
  readonly isMoved: boolean
  /** The panel is too small for the whole chart in readable letters, so it shows the part around the active states. */
  readonly isFollowing: boolean
  readonly isWhole: boolean
  readonly setWhole: (isWhole: boolean) => void
}

/** Zoom with the wheel or two fingers, pan by dragging. Initially the drawing fits, or shows the states in `focus`. */
export function usePanZoom(
  ref: RefObject<SVGSVGElement>,
  drawing: Room,
  room: Room,
  focus: readonly Box[] | undefined,
): PanZoom {
  const [moved, setMoved] = useState<Box | undefined>()
  const [isWhole, setWhole] = useState(false)
  const last = useRef<Box | undefined>()
  const view = viewOf(drawing, room, isWhole ? undefined : focus, last.current)
  last.current = view
  const isFollowing = view.width < drawing.width || view.height < drawing.height
  const box = moved ?? view
  const current = useRef(box)
  current.current = box
  useEffect(() => {
    const svg = ref.current
    if (svg === null) return
    const scale = (): number => {
      const rect = svg.getBoundingClientRect()
      return Math.max(current.current.width / rect.width, current.current.height / rect.height)
    }
    const onWheel = (event: WheelEvent): void => {
      if (
        !event.ctrlKey &&
        !event.metaKey &&
        !svg.matches(':focus, :active') &&
        event.deltaMode === 0 &&
        !event.shiftKey
      ) {
        // if the page can scroll, plain scrolling belongs to the page
        const scrolls = [document.documentElement, svg.closest('.inspector')]
        if (scrolls.some((each) => each !== null && each.scrollHeight > each.clientHeight + 4)) return
      }
      event.preventDefault()
      const { x, y, width: w, height: h } = current.current
      const factor = Math.min(1.25, Math.max(0.8, Math.exp(event.deltaY * 0.0015)))
      const rect = svg.getBoundingClientRect()
      const px = x + ((event.clientX - rect.x) / rect.width) * w
      const py = y + ((event.clientY - rect.y) / rect.height) * h
      setMoved({ x: px - (px - x) * factor, y: py - (py - y) * factor, width: w * factor, height: h * factor })
    }
    const onDown = (event: PointerEvent): void => {
      if (event.button !== 0 || event.pointerType === 'touch') return
      const start = current.current
      const [fromX, fromY, by] = [event.clientX, event.clientY, scale()]
      svg.setPointerCapture(event.pointerId)
      const onMove = ({ clientX, clientY }: PointerEvent): void =>
        setMoved({ ...start, x: start.x - (clientX - fromX) * by, y: start.y - (clientY - fromY) * by })
      const onUp = (): void => {
        svg.removeEventListener('pointermove', onMove)
        svg.removeEventListener('pointerup', onUp)
      }
      svg.addEventListener('pointermove', onMove)
      svg.addEventListener('pointerup', onUp)
    }
    svg.addEventListener('wheel', onWheel, { passive: false })
    svg.addEventListener('pointerdown', onDown)
    return () => {
      svg.removeEventListener('wheel', onWheel)
      svg.removeEventListener('pointerdown', onDown)
    }
  }, [])
  const reset = (): void => setMoved(undefined)
  const show = (whole: boolean): void => {
    reset()
    setWhole(whole)
  }
  return { box, view, reset, isMoved: moved !== undefined, isFollowing, isWhole, setWhole: show }
}
