import { readField } from '../base/read-field.ts'
import type { Entry, Slot } from './entry.ts'
import { transcriptTexts } from './transcript-texts.ts'

interface Result {
  readonly slot: Slot
  readonly entry: Entry
  readonly turn: number
}

export interface Call extends Result {
  result?: Result
  /** The first call with this id in the same reply. */
  readonly twin: Call | undefined
}

/** A result without a call. */
export interface LooseResult extends Result {
  /** There is such a call, but it already has a result. */
  readonly isDoubled: boolean
}

export interface Pairing {
  readonly calls: Call[]
  readonly loose: LooseResult[]
}

/**
 * Assigns each result to its call. If an id was used more than once, the latest reply before the result gets it, and
 * within that reply the calls get their results in order. A result before any call with its id waits for one.
 */
export function pairCalls(turns: readonly (readonly Entry[])[]): Pairing {
  const pairing: Pairing = { calls: [], loose: [] }
  const known = new Map<string, OpenCalls>()
  const early: Result[] = []
  for (const [turn, entries] of turns.entries()) {
    for (const entry of entries) {
      for (const slot of entry.slots) {
        if (slot.kind === 'call') pairing.calls.push(knownAs(slot.id, known).add({ slot, entry, turn }))
      }
    }
    for (const entry of entries) {
      for (const slot of entry.slots) {
        if (slot.kind !== 'result') continue
        const result = { slot, entry, turn }
        const calls = known.get(slot.id)
        if (calls === undefined) early.push(result)
        else if (!calls.answerLatest(result)) pairing.loose.push({ ...calls.replaceLost(result), isDoubled: true })
      }
    }
  }
  for (const result of early) {
    const calls = known.get(result.slot.id)
    if (!calls?.answerFirst(result)) pairing.loose.push({ ...result, isDoubled: calls !== undefined })
  }
  return pairing
}

function knownAs(id: string, known: Map<string, OpenCalls>): OpenCalls {
  const calls = known.get(id) ?? new OpenCalls()
  known.set(id, calls)
  return calls
}

/** The calls with one id, by reply, and how many calls of each reply have a result. */
class OpenCalls {
  readonly #replies: { calls: Call[]; answered: number }[] = []
  readonly #lost: Call[] = []
  #first = 0

  add(item: Result): Call {
    const last = this.#replies.at(-1)
    const twin = last?.calls[0]?.turn === item.turn ? last.calls[0] : undefined
    const call: Call = { slot: item.slot, entry: item.entry, turn: item.turn, twin }
    if (twin === undefined) this.#replies.push({ calls: [call], answered: 0 })
    else last?.calls.push(call)
    return call
  }

  /** A result ends its reply, so a reply whose calls are all answered is removed. */
  answerLatest(result: Result): boolean {
    while (this.#replies.length > 0) {
      const call = answer(this.#replies.at(-1), result)
      if (call !== undefined && isLost(result)) this.#lost.push(call)
      if (call !== undefined) return true
      this.#replies.pop()
    }
    return false
  }

  /** A real result replaces one that an earlier repair added. Returns the result to remove. */
  replaceLost(result: Result): Result {
    const call = isLost(result) ? undefined : this.#lost.pop()
    const made = call?.result
    if (call === undefined || made === undefined) return result
    call.result = result
    return made
  }

  answerFirst(result: Result): boolean {
    for (; this.#first < this.#replies.length; this.#first++) {
      if (answer(this.#replies[this.#first], result) !== undefined) return true
    }
    return false
  }
}

function answer(reply: { calls: Call[]; answered: number } | undefined, result: Result): Call | undefined {
  const call = reply?.calls[reply.answered]
  if (reply === undefined || call === undefined) return undefined
  reply.answered++
  call.result = result
  return call
}

const isLost = ({ slot }: Result): boolean => readField(slot.block, 'content') === transcriptTexts.lostResult.content
