import type { CallRecord } from './call-record.ts'
import type { RunRecord } from './run-record.ts'

export type Lane = 'shared' | 'exclusive'

/** Why a call may not start now. */
export type Refusal =
  /** Somebody asked to hold it until `release`. */
  | 'held'
  /** An unsafe call has the line to itself. */
  | 'exclusiveRunning'
  /** An unsafe call that came before it still waits, and nothing overtakes that one. */
  | 'behindUnsafe'
  /** It is unsafe, and something runs. */
  | 'waitsForRunning'
  /** As many calls as allowed run already. */
  | 'full'
  /** Its run was discarded: it is given up, and nothing of it leaves. */
  | 'discarded'

export type Admission =
  | { readonly ok: true; readonly lane: Lane }
  | { readonly ok: false; readonly because: Refusal; readonly blockers: readonly string[] }

type Traffic = Pick<RunRecord, 'executing' | 'exclusive' | 'maxConcurrency' | 'line'>

export const laneOf = (call: Pick<CallRecord, 'isSafe'>): Lane => (call.isSafe ? 'shared' : 'exclusive')

/** The concurrency rule. Undefined means: it may start. */
export function refusalOf(call: CallRecord, traffic: Traffic): Refusal | undefined {
  if (call.stage === 'held') return 'held'
  if (traffic.exclusive !== undefined) return 'exclusiveRunning'
  if (traffic.line.barrierBefore(call) !== undefined) return 'behindUnsafe'
  if (!call.isSafe) return traffic.executing.size > 0 ? 'waitsForRunning' : undefined
  return traffic.executing.size >= traffic.maxConcurrency ? 'full' : undefined
}

/** The same rule with the names of those the call waits for: for people and for the inspector. */
export function explainAdmission(call: CallRecord, traffic: Traffic): Admission {
  const because = refusalOf(call, traffic)
  if (because === undefined) return { ok: true, lane: laneOf(call) }
  return { ok: false, because, blockers: blockersOf[because](call, traffic) }
}

const idsOf = (calls: Iterable<CallRecord>): string[] => Array.from(calls, (call) => call.id)

const blockersOf = {
  held: () => [],
  exclusiveRunning: (_, { exclusive }) => (exclusive === undefined ? [] : [exclusive.id]),
  behindUnsafe: (call, { line }) => {
    const barrier = line.barrierBefore(call)
    return barrier === undefined ? [] : [barrier.id]
  },
  waitsForRunning: (_, { executing }) => idsOf(executing),
  full: (_, { executing }) => idsOf(executing),
  discarded: () => [],
} satisfies { [R in Refusal]: (call: CallRecord, traffic: Traffic) => string[] }
