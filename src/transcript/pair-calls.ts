import { readField } from '../errors/read-field.ts'
import { type Entry, hasContent, type Slot } from './entry.ts'
import { transcriptTexts } from './transcript-texts.ts'

export interface Result {
  readonly slot: Slot
  readonly entry: Entry
  readonly turn: number
}

export interface Call extends Result {
  result?: Result
  /** The first call with this id in the same reply. */
  readonly twin: Call | undefined
}

/** A result that no call is left for. */
export interface LooseResult extends Result {
  /** There is such a call, but it has its result. */
  readonly isDoubled: boolean
}

export interface Pairing {
  readonly calls: Call[]
  readonly loose: LooseResult[]
}

/**
 * Gives each result to its call. Where an id was used more than once, to the latest reply before the result, and
 * there in order; a result that comes before any call with its id waits for one.
 */
export function pairCalls(entries: readonly Entry[]): Pairing {
  const pairing: Pairing = { calls: [], loose: [] }
  const known = new Map<string, OpenCalls>()
  const early: Result[] = []
  numberTurns(entries)
  for (const entry of entries) {
    for (const slot of entry.slots) {
      const item = { slot, entry, turn: entry.turn ?? 0 }
      if (slot.kind === 'call') pairing.calls.push(knownAs(slot.id, known).add(item))
      else if (slot.kind === 'result') {
        const calls = known.get(slot.id)
        if (calls === undefined) early.push(item)
        else if (!calls.answerLatest(item)) pairing.loose.push({ ...calls.replaceLost(item), isDoubled: true })
      }
    }
  }
  for (const item of early) {
    const calls = known.get(item.slot.id)
    if (!calls?.answerFirst(item)) pairing.loose.push({ ...item, isDoubled: calls !== undefined })
  }
  return pairing
}

/** A turn is a reply of the assistant with all that is sent after it, up to the next reply. */
function numberTurns(entries: readonly Entry[]): void {
  let turn = 0
  let isReply = false
  for (const entry of entries) {
    if (entry.side === 'assistant' && !isReply) turn++
    if (entry.side === 'assistant') isReply = true
    else if (entry.side === 'user' && hasContent(entry)) isReply = false
    entry.turn = turn
  }
}

function knownAs(id: string, known: Map<string, OpenCalls>): OpenCalls {
  const calls = known.get(id) ?? new OpenCalls()
  known.set(id, calls)
  return calls
}

/** The calls with one id, by reply, and how many of each reply have their result. */
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

  /** Once a result has come, its reply is over: one whose calls all have theirs can go. */
  answerLatest(result: Result): boolean {
    while (this.#replies.length > 0) {
      const call = answer(this.#replies.at(-1), result)
      if (call !== undefined && isLost(result)) this.#lost.push(call)
      if (call !== undefined) return true
      this.#replies.pop()
    }
    return false
  }

  /** A real result takes the place of one that an earlier repair made up. Returns the one that has to go. */
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
