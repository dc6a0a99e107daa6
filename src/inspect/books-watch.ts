import {
  type CallRecord,
  type CallStage,
  deliverableOf,
  explainAdmission,
  type Lane,
  laneOf,
  type RunRecord,
  refusalOf,
} from '../../machines/index.ts'
import type { BooksFrame, CursorState, WaitGroup } from './frame.ts'
import { WaitingRanges } from './waiting-ranges.ts'

interface Seen {
  stage: CallStage
  lane: Lane
}

/**
 * Finds what a step changed in the executor's books. They are written in place, so what was seen last is kept here;
 * only calls that a step can have touched are looked at.
 */
export class BooksWatch {
  readonly #run: RunRecord
  readonly #seen = new Map<CallRecord, Seen>()
  #executing = new Set<CallRecord>()
  readonly #waiting = new WaitingRanges()
  readonly #held = new WaitingRanges()
  #cursor: CursorState | undefined
  #waits = ''

  constructor(run: RunRecord) {
    this.#run = run
  }

  /** Everything as it is now, and from here on only what changes. */
  begin(): BooksFrame {
    const { calls, executing } = this.#run
    this.#seen.clear()
    for (const call of calls) this.#note(call)
    this.#executing = new Set(executing)
    this.#waiting.clear()
    this.#held.clear()
    for (const call of calls) this.#place(call)
    const waits = this.#findWaits()
    this.#waits = JSON.stringify(waits)
    this.#cursor = cursorOf(this.#run)
    return { type: 'books', cursor: this.#cursor, waits }
  }

  /** @param touched the call that the event was about; `everyone` where an abort went through the calls */
  change(touched: CallRecord | undefined, everyone: boolean): BooksFrame | undefined {
    const stages = this.#findStages(touched, everyone)
    const cursor = this.#findCursor()
    // a result that is handed over lets nobody start
    const isTraffic = stages.some(([, stage]) => stage !== 'yielded')
    const waits = isTraffic ? this.#findNewWaits() : undefined
    if (stages.length === 0 && cursor === undefined && waits === undefined) return undefined
    return {
      type: 'books',
      ...(stages.length > 0 && { stages }),
      ...(cursor !== undefined && { cursor }),
      ...(waits !== undefined && { waits }),
    }
  }

  #findStages(touched: CallRecord | undefined, everyone: boolean): [string, CallStage, Lane][] {
    const changed = new Set<CallRecord>()
    const look = (call: CallRecord | undefined): void => {
      if (call === undefined || call.index < 0 || !this.#note(call)) return
      changed.add(call)
    }
    look(touched)
    this.#lookAtExecuting(look)
    const { calls, cursor, settled } = this.#run
    for (let index = this.#cursor?.next ?? 0; index < cursor; index++) look(calls[index])
    if (everyone) for (const call of calls.slice(settled)) look(call)
    for (const call of changed) this.#place(call)
    return Array.from(changed, (call) => [call.id, call.stage, laneOf(call)])
  }

  #lookAtExecuting(look: (call: CallRecord) => void): void {
    const { executing } = this.#run
    // one step starts or ends one call at most
    if (executing.size === this.#executing.size) return
    for (const call of executing) if (!this.#executing.has(call)) look(call)
    for (const call of this.#executing) if (!executing.has(call)) look(call)
    this.#executing = new Set(executing)
  }

  /** Whether the call changed since it was last seen. */
  #note(call: CallRecord): boolean {
    const { stage } = call
    const lane = laneOf(call)
    const seen = this.#seen.get(call)
    if (seen?.stage === stage && seen.lane === lane) return false
    // what is handed over does not change any more
    if (stage === 'yielded') this.#seen.delete(call)
    else this.#seen.set(call, { stage, lane })
    return true
  }

  #place({ index, stage, port }: CallRecord): void {
    if (stage === 'queued' && !port.isAnswered) this.#waiting.add(index)
    else this.#waiting.delete(index)
    if (stage === 'held' && !port.isAnswered) this.#held.add(index)
    else this.#held.delete(index)
  }

  #findCursor(): CursorState | undefined {
    const now = cursorOf(this.#run)
    const before = this.#cursor
    if (before?.next === now.next && before.settled === now.settled && before.waitsFor === now.waitsFor)
      return undefined
    this.#cursor = now
    return now
  }

  #findNewWaits(): WaitGroup[] | undefined {
    const waits = this.#findWaits()
    const text = JSON.stringify(waits)
    if (text === this.#waits) return undefined
    this.#waits = text
    return waits
  }

  /** Calls that wait for the same reason and the same others stand together: a line of thousands is a few groups. */
  #findWaits(): WaitGroup[] {
    const groups = new Map<string, { first: CallRecord; calls: [number, number][] }>()
    for (const [from, to] of this.#alike()) {
      const call = this.#run.calls[from] as CallRecord
      const because = refusalOf(call, this.#run)
      if (because === undefined) continue
      const key = because === 'behindUnsafe' ? `behind ${this.#run.line.barrierBefore(call)?.index}` : because
      const group = groups.get(key)
      const last = group?.calls.at(-1)
      if (group === undefined) groups.set(key, { first: call, calls: [[from, to]] })
      else if (last !== undefined && last[1] === from - 1) last[1] = to
      else group.calls.push([from, to])
    }
    return Array.from(groups.values(), ({ first, calls }) => ({ ...reasonOf(first, this.#run), calls }))
  }

  /** Ranges of calls that are refused alike: what parts them is who is held, and the first unsafe ones. */
  *#alike(): Generator<readonly [number, number]> {
    const cuts = this.#run.line.barriers.flatMap(({ index }) => [index, index + 1])
    for (const ranges of [this.#waiting, this.#held]) {
      for (const [first, last] of ranges.ranges) {
        const inside = [...new Set(cuts)].filter((cut) => cut > first && cut <= last).sort((a, b) => a - b)
        for (const [at, from] of [first, ...inside].entries()) yield [from, (inside[at] ?? last + 1) - 1]
      }
    }
  }
}

function reasonOf(call: CallRecord, run: RunRecord): Pick<WaitGroup, 'because' | 'blockers'> {
  const admission = explainAdmission(call, run)
  if (admission.ok) return { because: 'held', blockers: [] }
  return { because: admission.because, blockers: admission.blockers.slice(0, 100) }
}

function cursorOf(run: RunRecord): CursorState {
  const next = deliverableOf(run)
  const waitsFor = !next.ready && next.because === 'notCompleted' ? next.waitsFor : null
  return { next: run.cursor, settled: run.settled, waitsFor }
}
