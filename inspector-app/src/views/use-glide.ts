import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** More at once would be a blur, and expensive. */
const mostAtOnce = 40

/** Animates a call that moves, so that the eye can follow it from the queue to its result. */
export function useGlide(version: number | undefined): RefObject<HTMLElement> {
  const ref = useRef<HTMLElement>(null)
  const places = useRef(new Map<string, DOMRect>())
  useLayoutEffect(() => {
    const before = places.current
    const now = new Map<string, DOMRect>()
    const moved: [HTMLElement, DOMRect, DOMRect][] = []
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches
    for (const element of ref.current?.querySelectorAll<HTMLElement>('[data-flip]') ?? []) {
      const id = element.dataset.flip as string
      // a tile always exists; while its call waits or runs, track that element instead
      if (element.classList.contains('tile') && now.has(id)) continue
      const rect = element.getBoundingClientRect()
      now.set(id, rect)
      const from = before.get(id)
      if (from === undefined || isCalm) continue
      if (Math.abs(from.x - rect.x) + Math.abs(from.y - rect.y) > 6) moved.push([element, from, rect])
    }
    places.current = now
    if (moved.length > mostAtOnce) return
    for (const [element, from, to] of moved) glide(element, from, to)
  }, [version])
  return ref
}

function glide(element: HTMLElement, from: DOMRect, to: DOMRect): void {
  const isFar = Math.abs(from.x - to.x) > 40
  element.animate(
    [
      {
        transform: `translate(${from.x - to.x}px, ${from.y - to.y}px)`,
        ...(isFar && { zIndex: 5, boxShadow: '0 6px 18px rgb(0 0 0 / 0.25)' }),
      },
      { transform: 'none' },
    ],
    { duration: isFar ? 420 : 200, easing: 'cubic-bezier(.2,.8,.2,1)' },
  )
}
