import { type Canvas, finishedCall } from './call-lines.ts'
import { callStatus } from './call-status.ts'
import { type CallView, isOver, labelOf, type Phase } from './call-view.ts'
import type { Colors } from './colors.ts'
import { saidLines } from './said-lines.ts'
import type { SaidView, SessionView } from './session-view.ts'
import type { View } from './view.ts'

/** Phases that are too short for a log. */
const fleeting = new Set<Phase>(['validating', 'preHooks', 'deciding', 'postHooks', 'formatting'])

/** A session without a terminal: one line per change, nothing moves. */
export function plainView(session: SessionView, write: (text: string) => void, colors: Colors): View {
  const told = new Map<CallView, string>()
  // no wrapping or truncating: the log's viewer does that
  const canvas: Canvas = { columns: 1_000_000, colors, now: 0 }
  let first = 0
  const said = new Map<SaidView, number>()
  let isDue = false

  const tellSaid = (item: SaidView): void => {
    const end = item.isWhole ? item.text.length : item.text.lastIndexOf('\n') + 1
    const out = said.get(item) ?? 0
    if (end <= out) return
    const text = item.text.slice(out, end)
    said.set(item, end)
    if (text.trim() !== '') for (const line of saidLines({ ...item, text }, canvas)) write(`${line}\n`)
  }
  const tellCall = (call: CallView): void => {
    if (told.get(call) === 'over') return
    if (isOver(call)) {
      told.set(call, 'over')
      for (const line of finishedCall(call, session, canvas)) write(`${line}\n`)
      return
    }
    const { words, phase } = callStatus(call, session)
    if (fleeting.has(phase) || told.get(call) === words) return
    told.set(call, words)
    write(`${colors.dim('·')} ${colors.dim(`#${call.number}`)} ${labelOf(call)} ${colors.dim('·')} ${words}\n`)
  }
  const tell = (): void => {
    isDue = false
    let isOpen = false
    for (let index = first; index < session.items.length; index++) {
      const item = session.items[index]
      if (item?.kind === 'call') {
        tellCall(item)
        isOpen ||= !isOver(item)
      } else if (item !== undefined) {
        tellSaid(item)
        isOpen ||= !item.isWhole
      }
      if (!isOpen) first = index + 1
    }
  }
  return {
    changed() {
      if (isDue) return
      isDue = true
      setImmediate(() => isDue && tell())
    },
    end() {
      session.endSaying()
      tell()
    },
  }
}
