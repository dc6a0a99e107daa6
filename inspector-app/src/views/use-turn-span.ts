import { useRef, useState } from 'preact/hooks'

/** Turns beyond these are drawn on demand. */
const usualTurns = 40
const moreTurns = 200

interface Span {
  /** Undefined: as many as usual, up to the end. */
  readonly first: number | undefined
  /** Undefined: the end, which moves. */
  readonly last: number | undefined
}

export interface TurnSpan {
  readonly first: number
  /** Not included. */
  readonly last: number
  showEarlier(): void
  showLater(): void
}

export const nextTurns = (hidden: number): number => Math.min(moreTurns, hidden)

/** The turns that the rail draws: the newest ones, or those around a selection elsewhere. */
export function useTurnSpan(count: number, selection: string, selected: number): TurnSpan {
  const span = useRef<Span>({ first: undefined, last: undefined })
  const seen = useRef('')
  const [, redraw] = useState(0)
  const bounds = (): readonly [first: number, last: number] => {
    const last = Math.min(count, span.current.last ?? count)
    return [Math.min(span.current.first ?? Math.max(0, last - usualTurns), last), last]
  }
  const [begin, end] = bounds()
  // only a new selection moves the turns: somebody may have left an older one
  if (selection !== seen.current && selected >= 0) {
    seen.current = selection
    if (selected < begin || selected >= end) {
      const first = Math.max(0, selected - usualTurns / 2)
      span.current = { first, last: first + usualTurns }
    }
  }
  const [first, last] = bounds()
  const show = (next: Span): void => {
    span.current = next
    redraw((times) => times + 1)
  }
  return {
    first,
    last,
    showEarlier: () => show({ first: Math.max(0, first - moreTurns), last: span.current.last }),
    showLater: () => show({ first, last: last + moreTurns < count ? last + moreTurns : undefined }),
  }
}
