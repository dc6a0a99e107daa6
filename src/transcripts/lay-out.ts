import type { ContentBlock } from '../messages/message.ts'
import { type Entry, type Form, madeEntry, markChanged, type Slot } from './entry.ts'
import type { Call, LooseResult } from './pair-calls.ts'
import type { Report } from './transcript-problem.ts'
import { problemTexts, transcriptTexts } from './transcript-texts.ts'

/** Puts every result into the turn of its call, and removes results without a call. */
export function layOut(
  turns: readonly (readonly Entry[])[],
  { calls, loose, form }: { calls: readonly Call[]; loose: readonly LooseResult[]; form: Form },
  report: Report,
): Entry[] {
  for (const result of loose) dropLoose(result, report)
  const arrivals = byTurn(calls, (call) => arrivalFor(call, report))
  const place = form === 'own' ? placeOwn : placePlain
  return turns.flatMap((turn, number) => place(withoutGone(turn), arrivals.get(number) ?? [], report))
}

/** The results that calls still need, by the turns of the calls. */
export function byTurn(calls: readonly Call[], arrivalFor: (call: Call) => Entry | undefined): Map<number, Entry[]> {
  const arrivals = new Map<number, Entry[]>()
  for (const call of calls) {
    const arrival = arrivalFor(call)
    const others = arrivals.get(call.turn)
    if (arrival === undefined) continue
    if (others === undefined) arrivals.set(call.turn, [arrival])
    else others.push(arrival)
  }
  return arrivals
}

function dropLoose({ slot, entry, isDoubled }: LooseResult, report: Report): void {
  slot.isGone = true
  const place = { at: entry.at, block: slot.index, toolUseID: slot.id, done: 'dropped' } as const
  if (isDoubled) report({ code: 'duplicate_result', ...place, message: problemTexts.duplicateResult(slot.id) })
  else report({ code: 'orphan_result', ...place, message: problemTexts.orphanResult(slot.id) })
}

/** The result of a call whose turn has none: moved from another turn, or added. */
function arrivalFor({ slot, entry, turn, result }: Call, report: Report): Entry | undefined {
  if (result === undefined) {
    const message = problemTexts.unansweredCall(slot.id)
    report({ code: 'unanswered_call', at: entry.at, block: slot.index, toolUseID: slot.id, message, done: 'added' })
    return lostResult(slot, entry)
  }
  if (result.turn === turn) return undefined
  const place = { at: result.entry.at, block: result.slot.index, toolUseID: slot.id, done: 'moved' } as const
  if (result.turn > turn) report({ code: 'result_too_late', ...place, message: problemTexts.resultTooLate(slot.id) })
  else report({ code: 'result_too_early', ...place, message: problemTexts.resultTooEarly(slot.id) })
  const moved: Entry = { ...result.entry, slots: [{ ...result.slot }] }
  result.slot.isGone = true
  return result.entry.slots.length === 1 ? moved : { ...moved, state: 'made', answers: entry }
}

export function lostResult(call: Slot, answers: Entry): Entry {
  const { content, toolUseResult } = transcriptTexts.lostResult
  const block: ContentBlock = { type: 'tool_result', tool_use_id: call.block.id as string, content, is_error: true }
  const slot: Slot = { kind: 'result', index: 0, id: call.id, isBlank: false, block }
  return { ...madeEntry([slot], answers.at), answers, toolUseResult }
}

function withoutGone(turn: readonly Entry[]): Entry[] {
  let reply: string | undefined
  return turn.filter((entry) => {
    const isHere = !entry.slots.some(({ isGone }) => isGone) || hasMore(entry)
    // the first message of a reply holds the reply's id, even if it is empty
    const isFirst = entry.side === 'assistant' && entry.reply !== reply
    if (entry.side === 'assistant') reply = entry.reply
    return isHere || isFirst
  })
}

function hasMore(entry: Entry): boolean {
  entry.slots = entry.slots.filter(({ isGone }) => !isGone)
  markChanged(entry)
  return entry.slots.length > 0
}

const isOther = ({ kind }: Slot): boolean => kind !== 'result'

const isResult = ({ kind }: Slot): boolean => kind === 'result'

/** Messages of our own form are sent with the results first, so each result can have its own message. */
export function placeOwn(turn: Entry[], arrivals: readonly Entry[]): Entry[] {
  if (arrivals.length === 0) return turn
  let at = turn.findLastIndex(({ side, slots }) => side === 'assistant' || slots.some(isResult)) + 1
  while (turn[at]?.side === 'aside') at++
  return [...turn.slice(0, at), ...arrivals, ...turn.slice(at)]
}

/** Plain messages are sent as they are, so all results of a turn must come first in the message that answers. */
function placePlain(turn: Entry[], arrivals: readonly Entry[], report: Report): Entry[] {
  const at = turn.findLastIndex(({ side }) => side === 'assistant') + 1
  const answers = turn.slice(at)
  const late = firstNotFirst(answers)
  if (late !== undefined) {
    const { entry, slot } = late
    const message = problemTexts.resultsNotFirst(slot.id)
    report({ code: 'results_not_first', at: entry.at, block: slot.index, toolUseID: slot.id, message, done: 'moved' })
  } else if (arrivals.length === 0) return turn
  const results = [...answers, ...arrivals].flatMap(({ slots }) => slots.filter(isResult))
  const first = answers[0]
  const isAnswer = first !== undefined && !first.isOpaque
  const head = isAnswer
    ? withSlots(first, [...results, ...first.slots.filter(isOther)])
    : madeEntry(results, turn[0]?.at ?? 0)
  return [...turn.slice(0, at), head, ...answers.slice(isAnswer ? 1 : 0).flatMap(withoutResults)]
}

/** The first result that has other content before it. */
function firstNotFirst(answers: readonly Entry[]): { entry: Entry; slot: Slot } | undefined {
  let isSomethingElse = false
  for (const entry of answers) {
    isSomethingElse ||= entry.isOpaque
    for (const slot of entry.slots) {
      if (isSomethingElse && isResult(slot)) return { entry, slot }
      isSomethingElse ||= isOther(slot)
    }
  }
  return undefined
}

function withoutResults(entry: Entry): Entry[] {
  if (!entry.slots.some(isResult)) return [entry]
  const slots = entry.slots.filter(isOther)
  return slots.length === 0 ? [] : [withSlots(entry, slots)]
}

function withSlots(entry: Entry, slots: Slot[]): Entry {
  entry.slots = slots
  markChanged(entry)
  return entry
}
