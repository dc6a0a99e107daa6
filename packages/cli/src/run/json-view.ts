import type { QueryMessage } from 'signalbox'
import { callStatus } from '../view/call-status.ts'
import { type CallView, isOver } from '../view/call-view.ts'
import type { SessionView } from '../view/session-view.ts'
import type { View } from '../view/view.ts'

/** A session for machines: one JSON object per line, nothing else. */
export function jsonView(session: SessionView, write: (text: string) => void): View & JsonLines {
  const told = new Map<CallView, string>()
  const line = (value: object): void => write(`${JSON.stringify(value)}\n`)
  let first = 0
  let isDue = false
  const tell = (): void => {
    isDue = false
    let isOpen = false
    for (let index = first; index < session.items.length; index++) {
      const item = session.items[index]
      if (item?.kind === 'call') tellCall(item)
      isOpen ||= item?.kind === 'call' && !isOver(item)
      if (!isOpen) first = index + 1
    }
  }
  const tellCall = (call: CallView): void => {
    const { phase, words } = callStatus(call, session)
    const isNew = told.get(call) !== phase + words
    told.set(call, phase + words)
    if (!isNew) return
    const { id, number, name, label, lane, result } = call
    const wait = phase === 'queued' ? session.waitOf(call) : undefined
    const why = wait !== undefined ? { because: wait.because, waitsFor: wait.blockers } : {}
    const heldFor = phase === 'heldForOrder' ? session.heldFor(call)?.id : undefined
    line({
      type: 'call',
      id,
      number,
      name,
      label,
      lane,
      phase,
      words,
      ...why,
      ...(heldFor !== undefined && { waitsFor: [heldFor] }),
      ...(result !== undefined && { isError: result.isError }),
    })
  }
  return {
    changed() {
      if (isDue) return
      isDue = true
      queueMicrotask(() => isDue && tell())
    },
    end: tell,
    line,
    message: (message) => line({ type: 'message', message }),
  }
}

export interface JsonLines {
  line(value: object): void
  message(message: QueryMessage): void
}
