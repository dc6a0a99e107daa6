import type { AbortKind } from '../../../machines/index.ts'
import type { Phase, SeenCall, WaitedFor, Way } from './seen-call.ts'

/** The times of a call, in milliseconds since the recording began. */
export interface CallTimes {
  readonly id: string
  readonly name: string
  /** For display, such as `Bash(npm test)`. */
  readonly label: string
  /** Its position in the order in which the model requested the calls. */
  readonly index: number
  readonly isSafe: boolean
  readonly addedAt: number
  readonly startedAt: number | undefined
  readonly endedAt: number | undefined
  /** When a reader took its result. */
  readonly yieldedAt: number | undefined
  /** `answer`: completed without running. `result`: its own result or error. Otherwise the kind of abort. */
  readonly ended: 'answer' | 'result' | 'background' | 'journal' | 'unknown' | AbortKind | undefined
  /** Why it waited just before it started, as from `explain`; undefined if it did not wait. */
  readonly waitedFor: WaitedFor | undefined
  /** Its body in the background of a simulation: from when, and until when if the recording has its duration. */
  readonly background: { readonly from: number; readonly to: number | undefined } | undefined
  readonly phases: readonly { readonly phase: Phase; readonly from: number; readonly to: number | undefined }[]
}

/** The times of a run. */
export interface RunTimes {
  /** Null: no limit. */
  readonly maxConcurrency: number | null
  /** From the arrival of the first call to the end of the last; undefined if a call does not end. */
  readonly makespanMs: number | undefined
  readonly calls: readonly CallTimes[]
}

export function callTimes(call: SeenCall, way: Way = call, isSafe = call.isSafe): CallTimes {
  const { ending } = way
  const stopped = ending?.by === 'abort' ? ending.kind : undefined
  return {
    id: call.id,
    name: call.name,
    label: call.label,
    index: call.index,
    isSafe,
    addedAt: toMs(way.addedAt) as number,
    startedAt: toMs(way.startedAt),
    endedAt: toMs(way.endedAt),
    yieldedAt: toMs(way.yieldedAt),
    ended: ending === undefined ? undefined : ending.by === 'abort' ? (stopped ?? undefined) : ending.by,
    waitedFor: way.waitedFor,
    background: way.background && { from: way.background.from / 1_000, to: toMs(way.background.to) },
    phases: way.visits.map(({ phase, from, to }) => ({ phase, from: toMs(from) as number, to: toMs(to) })),
  }
}

export function runTimes(maxConcurrency: number | null, calls: readonly CallTimes[]): RunTimes {
  let [first, last] = [Number.POSITIVE_INFINITY, 0]
  for (const { addedAt, endedAt = Number.POSITIVE_INFINITY } of calls) {
    first = Math.min(first, addedAt)
    last = Math.max(last, endedAt)
  }
  const makespan = calls.length === 0 ? 0 : last - first
  const makespanMs = Number.isFinite(makespan) ? Math.round(makespan * 1_000) / 1_000 : undefined
  return { maxConcurrency, makespanMs, calls }
}

const toMs = (micros: number | undefined): number | undefined => (micros === undefined ? undefined : micros / 1_000)
