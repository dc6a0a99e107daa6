import type { CallRecord, Reclassification } from '../call/call-record.ts'
import { conflictOf, isExclusive, keysOf } from '../call/resource-keys.ts'
import type { ExecutorSchedule } from './executor-schedule.ts'

export type Lane = 'shared' | 'exclusive'

/** Why a call may not start now. */
export type Refusal =
  /** The host holds it until `release`. */
  | 'held'
  /** A call that needs everything for itself is running. */
  | 'exclusiveRunning'
  /** An earlier call that needs everything for itself is still waiting, and nothing overtakes it. */
  | 'behindUnsafe'
  /** It needs everything for itself, and something runs. */
  | 'waitsForRunning'
  /** An executing call, or an earlier one that waits, uses a resource that one of the two writes. */
  | 'resource'
  /** The maximum number of calls is running. */
  | 'full'
  /** Its run was discarded: no result is delivered. */
  | 'discarded'

export type Admission =
  | { readonly ok: true; readonly lane: Lane }
  | {
      readonly ok: false
      readonly because: Refusal
      readonly blockers: readonly string[]
      /** The resource, where that is the reason. */
      readonly key?: string | undefined
      /** The calls of other executors that hold the resource, or wait for it before this one. */
      readonly holders?: readonly KeyHolder[]
    }

/** A call that holds a key which several executors share. */
export interface KeyHolder {
  readonly toolUseID: string
  readonly toolName: string
  /** The id of its session; absent outside of sessions. */
  readonly session?: string
  /** The tool of the call that it runs inside of, such as an agent's. */
  readonly agent?: string
  /** It waits for the key too, and comes first. */
  readonly isWaiting?: true
}

type Traffic = Pick<ExecutorSchedule, 'executing' | 'paused' | 'exclusive' | 'maxConcurrency' | 'queue'>

export const laneOf = (call: Reclassification): Lane => (isExclusive(call) ? 'exclusive' : 'shared')

/** The concurrency rule. Undefined: the call may start. */
export function refusalOf(call: CallRecord, traffic: Traffic): Refusal | undefined {
  if (call.stage === 'held') return 'held'
  if (traffic.exclusive !== undefined) return 'exclusiveRunning'
  if (traffic.queue.barrierBefore(call) !== undefined) return 'behindUnsafe'
  if (traffic.executing.size > 0 && isExclusive(call)) return 'waitsForRunning'
  if (traffic.queue.conflictWith(call) !== undefined) return 'resource'
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
  const blockers = blockersOf[because](call, traffic)
  const [first] = blockers
  const key = because === 'resource' && first !== undefined ? conflictOf(keysOf(call), keysOf(first)) : undefined
  return { ok: false, because, blockers: blockers.map(({ id }) => id), ...(key !== undefined && { key }) }
}

const blockersOf = {
  held: () => [],
  exclusiveRunning: (_, { exclusive }) => (exclusive === undefined ? [] : [exclusive]),
  behindUnsafe: (call, { queue }) => {
    const barrier = queue.barrierBefore(call)
    return barrier === undefined ? [] : [barrier]
  },
  waitsForRunning: (_, { executing }) => [...executing],
  resource: (call, { executing, queue }) => {
    const keys = keysOf(call)
    const holders = [...executing].filter((each) => conflictOf(keys, keysOf(each)) !== undefined)
    const earlier = queue.conflictWith(call)
    return holders.length > 0 || earlier === undefined ? holders : [earlier]
  },
  full: (_, { executing, paused }) => [...executing].filter((call) => !paused.has(call)),
  discarded: () => [],
} satisfies { [R in Refusal]: (call: CallRecord, traffic: Traffic) => CallRecord[] }
