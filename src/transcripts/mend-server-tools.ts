import { readField } from '../base/read-field.ts'
import { isServerCall, serverToolFlaws } from '../messages/server-tools.ts'
import { type Entry, type Form, markChanged, type Slot } from './entry.ts'
import type { Report } from './transcript-problem.ts'
import { problemTexts } from './transcript-texts.ts'
import { withFields } from './unknown-values.ts'

/**
 * Removes the service's own calls that have no result, and results without such a call: the service rejects both. Our
 * own messages are sent without them, so they need no repair.
 */
export function mendServerTools(entries: readonly Entry[], form: Form, report: Report): void {
  if (form === 'own' || !entries.some(({ slots }) => slots.some(({ block }) => isSpecial(block)))) return
  const turns = togetherBySide(entries)
  const flaws = serverToolFlaws(
    turns.map(({ side, slots, isOpaque }) => ({ role: side, blocks: blocksOf(slots, isOpaque) })),
  )
  const lost = new Set<unknown>()
  for (const [turn, places] of flaws) {
    for (const [index, flaw] of places) {
      const found = turns[turn]?.slots[index]
      if (found === undefined) continue
      const { entry, slot } = found
      const isCall = flaw === 'unanswered'
      const id = readField(slot.block, isCall ? 'id' : 'tool_use_id')
      if (isCall) lost.add(id)
      slot.isGone = true
      const toolUseID = typeof id === 'string' ? id : ''
      report({
        code: isCall ? 'unanswered_server_call' : 'orphan_server_result',
        at: entry.at,
        block: slot.index,
        toolUseID,
        message: isCall ? problemTexts.unansweredServerCall(toolUseID) : problemTexts.orphanServerResult(toolUseID),
        done: 'dropped',
      })
    }
  }
  for (const entry of entries) settle(entry, lost)
}

const isSpecial = (block: unknown): boolean =>
  isServerCall(block) || String(readField(block, 'type')).endsWith('_tool_result')

interface Together {
  readonly side: Entry['side']
  readonly slots: { readonly entry: Entry; readonly slot: Slot }[]
  isOpaque: boolean
}

/** Merges consecutive plain messages of one side. */
function togetherBySide(entries: readonly Entry[]): Together[] {
  const turns: Together[] = []
  for (const entry of entries) {
    if (entry.side === 'aside') continue
    const slots = entry.slots.map((slot) => ({ entry, slot }))
    const last = turns.at(-1)
    if (last?.side !== entry.side) turns.push({ side: entry.side, slots, isOpaque: entry.isOpaque })
    else {
      last.slots.push(...slots)
      last.isOpaque ||= entry.isOpaque
    }
  }
  return turns
}

const blocksOf = (slots: Together['slots'], isOpaque: boolean): unknown[] => [
  ...slots.map(({ slot }) => slot.block),
  ...(isOpaque ? ['something else'] : []),
]

function isLost({ block }: Slot, lost: ReadonlySet<unknown>): boolean {
  const by = readField(readField(block, 'caller'), 'tool_id')
  return by !== undefined && lost.has(by)
}

function settle(entry: Entry, lost: ReadonlySet<unknown>): void {
  const kept = entry.slots.filter(({ isGone }) => !isGone)
  if (kept.length < entry.slots.length) {
    entry.slots = kept
    markChanged(entry)
  }
  for (const slot of entry.slots) {
    if (slot.kind !== 'call' || !isLost(slot, lost)) continue
    // a call that was made by code of the service, which is removed
    slot.block = withFields(slot.block, { type: 'tool_use', caller: undefined })
    markChanged(entry)
  }
}
