import { type Canvas, finishedCall } from './call-lines.ts'
import { isOver } from './call-view.ts'
import { saidLines } from './said-lines.ts'
import type { SaidView, SessionItem, SessionView } from './session-view.ts'

/** Moves final parts of a session into the scrollback, once each and in order; the rest is redrawn. */
export class Scroll {
  readonly #session: SessionView
  #next = 0
  /** How much of the current text is already in the scrollback. */
  #said = 0
  #lastKind: string | undefined

  constructor(session: SessionView) {
    this.#session = session
  }

  take(canvas: Canvas): string[] {
    const lines: string[] = []
    for (;;) {
      const item = this.#session.items[this.#next]
      if (item === undefined) return lines
      if (item.kind === 'said' && !item.isWhole) {
        lines.push(...this.#takeWholeLines(item, canvas))
        return lines
      }
      if (item.kind === 'call' && !isOver(item)) return lines
      const more = item.kind === 'call' ? finishedCall(item, this.#session, canvas) : this.#takeSaid(item, canvas)
      lines.push(...this.#after(kindOf(item), more))
      this.#next++
      this.#said = 0
    }
  }

  /** The part that is not final, without the part of a text that is already in the scrollback. */
  get rest(): SessionItem[] {
    const [first, ...others] = this.#session.items.slice(this.#next)
    if (first === undefined) return []
    return [first.kind === 'said' ? { ...first, text: first.text.slice(this.#said) } : first, ...others]
  }

  /** The empty line between texts and calls belongs to neither. */
  needsGap(item: SessionItem): boolean {
    return this.#lastKind !== undefined && this.#lastKind !== kindOf(item)
  }

  #takeWholeLines(item: SaidView, canvas: Canvas): string[] {
    const end = item.text.lastIndexOf('\n') + 1
    if (end <= this.#said) return []
    const text = item.text.slice(this.#said, end)
    this.#said = end
    return this.#after(kindOf(item), saidLines({ ...item, text }, canvas))
  }

  #takeSaid(item: SaidView, canvas: Canvas): string[] {
    const text = item.text.slice(this.#said)
    return text.trim() === '' ? [] : saidLines({ ...item, text }, canvas)
  }

  #after(kind: string, lines: string[]): string[] {
    if (lines.length === 0) return lines
    const isNew = this.#lastKind !== undefined && this.#lastKind !== kind
    this.#lastKind = kind
    return isNew ? ['', ...lines] : lines
  }
}

export const kindOf = (item: SessionItem): string => (item.kind === 'call' ? 'call' : item.by)
