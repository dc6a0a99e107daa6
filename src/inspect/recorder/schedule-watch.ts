import {
  type CallRecord,
  type CallStage,
  deliverableOf,
  type ExecutorSchedule,
  explainAdmission,
  type Lane,
  laneOf,
  type Refusal,
  refusalOf,
} from '../../../machines/index.ts'
import type { CursorState, ScheduleFrame, WaitGroup } from '../frames/frame.ts'
import { WaitingRanges } from '../frames/waiting-ranges.ts'

/** A key is made of the input, so the host may redact it. */
export type ShowKey = (key: string, call: CallRecord) => string

interface Seen {
  stage: CallStage
  lane: Lane
}

/**
 * Finds what a step changed in the executor's schedule. The schedule is mutated in place, so the last known state is
 * kept here. Only calls that the step can have touched are compared.
 */
export class ScheduleWatch {
  readonly #run: ExecutorSchedule
  readonly #showKey: ShowKey
  readonly #seen = new Map<CallRecord, Seen>()
  #executing = new Set<CallRecord>()
  readonly #waiting = new WaitingRanges()
  readonly #held = new WaitingRanges()
  #cursor: CursorState | undefined
  #waits = ''

  constructor(run: ExecutorSchedule, showKey: ShowKey = (key) => key) {
    this.#run = run
    this.#showKey = showKey
  }

  /** Returns the full state; `change` then returns only differences. */
  begin(): ScheduleFrame {
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
    return { type: 'schedule', cursor: this.#cursor, waits }
  }

  /** @param touched the call that the event was about @param everyone true if an abort may have touched all calls */
  change(touched: CallRecord | undefined, everyone: boolean): ScheduleFrame | undefined {
    const stages = this.#findStages(touched, everyone)
    const cursor = this.#findCursor()
    // handing over a result starts no call
    const isTraffic = stages.some(([, stage]) => stage !== 'yielded')
    const waits = isTraffic ? this.#findNewWaits() : undefined
    if (stages.length === 0 && cursor === undefined && waits === undefined) return undefined
    return {
      type: 'schedule',
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
    const { calls, cursor, completedUpTo } = this.#run
    for (let index = this.#cursor?.next ?? 0; index < cursor; index++) look(calls[index])
    if (everyone) for (const call of calls.slice(completedUpTo)) look(call)
    for (const call of changed) this.#place(call)
    return Array.from(changed, (call) => [call.id, call.stage, laneOf(call)])
  }

  #lookAtExecuting(look: (call: CallRecord) => void): void {
    const { executing } = this.#run
    // a step starts or ends at most one call
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
    // a call that is handed over no longer changes
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
    if (before?.next === now.next && before.completedUpTo === now.completedUpTo && before.waitsFor === now.waitsFor)
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

  /** Groups calls by reason and blockers: a queue of thousands is a few groups. */
  #findWaits(): WaitGroup[] {
    const groups = new Map<string, { first: CallRecord; calls: [number, number][] }>()
    for (const [from, to] of this.#alike()) {
      const call = this.#run.calls[from] as CallRecord
      const because = refusalOf(call, this.#run)
      if (because === undefined) continue
      const key = this.#groupOf(call, because)
      const group = groups.get(key)
      const last = group?.calls.at(-1)
      if (group === undefined) groups.set(key, { first: call, calls: [[from, to]] })
      else if (last !== undefined && last[1] === from - 1) last[1] = to
      else group.calls.push([from, to])
    }
    return Array.from(groups.values(), ({ first, calls }) => ({ ...reasonOf(first, this.#run, this.#showKey), calls }))
  }

  #groupOf(call: CallRecord, because: Refusal): string {
    if (because === 'behindUnsafe') return `behind ${this.#run.queue.barrierBefore(call)?.index}`
    return because === 'resource' ? JSON.stringify(reasonOf(call, this.#run, this.#showKey)) : because
  }

  /** Ranges of calls with the same refusal. Held calls and the first unsafe calls are the boundaries. */
  *#alike(): Generator<readonly [number, number]> {
    const cuts = this.#run.queue.barriers.flatMap(({ index }) => [index, index + 1])
    for (const ranges of [this.#waiting, this.#held]) {
      for (const [first, last] of ranges.ranges) {
        // each call may wait for a resource of its own
        if (this.#run.hasKeys) {
          for (let index = first; index <= last; index++) yield [index, index]
          continue
        }
        const inside = [...new Set(cuts)].filter((cut) => cut > first && cut <= last).sort((a, b) => a - b)
        for (const [at, from] of [first, ...inside].entries()) yield [from, (inside[at] ?? last + 1) - 1]
      }
    }
  }
}

/** Why a call waits, with at most a hundred blockers. */
export function reasonOf(call: CallRecord, run: ExecutorSchedule, showKey: ShowKey): Omit<WaitGroup, 'calls'> {
  const admission = explainAdmission(call, run)
  if (admission.ok) return { because: 'held', blockers: [] }
  const { because, blockers, key } = admission
  return { because, blockers: blockers.slice(0, 100), ...(key !== undefined && { key: showKey(key, call) }) }
}

function cursorOf(run: ExecutorSchedule): CursorState {
  const next = deliverableOf(run)
  const waitsFor = !next.ready && next.because === 'notCompleted' ? next.waitsFor : null
  return { next: run.cursor, completedUpTo: run.completedUpTo, waitsFor }
}
