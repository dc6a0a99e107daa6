import type { CallRecord } from '../call/call-record.ts'
import type { ExecutorSchedule } from './executor-schedule.ts'

export type Lane = 'shared' | 'exclusive'

/** Why a call may not start now. */
export type Refusal =
  /** The host holds it until `release`. */
  | 'held'
  /** An unsafe call is running alone. */
  | 'exclusiveRunning'
  /** An earlier unsafe call is still waiting, and nothing overtakes it. */
  | 'behindUnsafe'
  /** It is unsafe, and something runs. */
  | 'waitsForRunning'
  /** The maximum number of calls is running. */
  | 'full'
  /** Its run was discarded: no result is delivered. */
  | 'discarded'

export type Admission =
  | { readonly ok: true; readonly lane: Lane }
  | { readonly ok: false; readonly because: Refusal; readonly blockers: readonly string[] }

type Traffic = Pick<ExecutorSchedule, 'executing' | 'paused' | 'exclusive' | 'maxConcurrency' | 'queue'>

export const laneOf = (call: Pick<CallRecord, 'isSafe'>): Lane => (call.isSafe ? 'shared' : 'exclusive')

/** The concurrency rule. Undefined: the call may start. */
export function refusalOf(call: CallRecord, traffic: Traffic): Refusal | undefined {
  if (call.stage === 'held') return 'held'
  if (traffic.exclusive !== undefined) return 'exclusiveRunning'
  if (traffic.queue.barrierBefore(call) !== undefined) return 'behindUnsafe'
  if (!call.isSafe) return traffic.executing.size > 0 ? 'waitsForRunning' : undefined
  return hasPlace(traffic) ? undefined : 'full'
}

/** Whether one more call may execute. Calls that wait for a person do not count. */
export const hasPlace = ({
  executing,
  paused,
  maxConcurrency,
}: Pick<Traffic, 'executing' | 'paused' | 'maxConcurrency'>): boolean => executing.size - paused.size < maxConcurrency

/** The same rule, with the calls that this one waits for: for people and for the inspector. */
export function explainAdmission(call: CallRecord, traffic: Traffic): Admission {
  const because = refusalOf(call, traffic)
  if (because === undefined) return { ok: true, lane: laneOf(call) }
  return { ok: false, because, blockers: blockersOf[because](call, traffic) }
}

const idsOf = (calls: Iterable<CallRecord>): string[] => Array.from(calls, (call) => call.id)

const blockersOf = {
  held: () => [],
  exclusiveRunning: (_, { exclusive }) => (exclusive === undefined ? [] : [exclusive.id]),
  behindUnsafe: (call, { queue }) => {
    const barrier = queue.barrierBefore(call)
    return barrier === undefined ? [] : [barrier.id]
  },
  waitsForRunning: (_, { executing }) => idsOf(executing),
  full: (_, { executing, paused }) => idsOf([...executing].filter((call) => !paused.has(call))),
  discarded: () => [],
} satisfies { [R in Refusal]: (call: CallRecord, traffic: Traffic) => string[] }
