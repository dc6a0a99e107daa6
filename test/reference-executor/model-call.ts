import type { DiscardedCall } from '../../src/index.ts'
import type { CallPlan, Keys } from './turn-view.ts'

type Stage = 'ignored' | 'waiting' | 'asking' | 'running' | 'stopping' | 'completed' | 'yielded'

/** A call as the model sees it. */
export interface ModelCall {
  readonly label: string
  readonly name: string
  readonly plan: CallPlan
  stage: Stage
  held: boolean
  keys: Keys
  /** The host has changed its input. */
  isChanged: boolean
  /** Whether it ever was in `executing`. */
  hasExecuted: boolean
  /** The host allowed it; this stays while it waits for a slot. */
  isPermitted: boolean
  /** The reason with which its body was told to stop. */
  signal: string
  /** When a body that was told to stop is abandoned. */
  deadline: number
  /** Its body was abandoned and has not settled since. */
  isAbandoned: boolean
  lateCount: number
  /** The messages of its ending that nobody has taken yet, the result first. */
  outbox: string[]
  progressCount: number
  droppedProgress: number
}

export const newCall = (label: string, name: string, plan: CallPlan): ModelCall => ({
  label,
  name,
  plan,
  stage: 'waiting',
  held: plan.hold,
  keys: firstKeys(plan),
  isChanged: false,
  hasExecuted: false,
  isPermitted: false,
  signal: 'none',
  deadline: 0,
  isAbandoned: false,
  lateCount: 0,
  outbox: [],
  progressCount: 0,
  droppedProgress: 0,
})

const stateWords = {
  ignored: 'none',
  waiting: 'queued',
  asking: 'executing',
  running: 'executing',
  stopping: 'executing',
  completed: 'completed',
  yielded: 'yielded',
} as const satisfies Record<Stage, string>

export const stateInWords = ({ stage }: ModelCall): string => stateWords[stage]

export const isExecuting = ({ stage }: ModelCall): boolean => stateWords[stage] === 'executing'

export const isOver = ({ stage }: ModelCall): boolean =>
  stage === 'completed' || stage === 'yielded' || stage === 'ignored'

/** Whether its body runs and the call waits for it. */
export const isLive = ({ stage }: ModelCall): boolean => stage === 'running' || stage === 'stopping'

/** Input that does not fit the schema makes any call unsafe. Without resources, a safe call reads everything. */
function firstKeys({ safe, keyed, keys, fault }: CallPlan): Keys {
  if (fault === 'invalid') return { reads: [], writes: ['*'] }
  if (keyed) return keys
  return safe ? { reads: ['*'], writes: [] } : { reads: [], writes: ['*'] }
}

/** Needs everything for itself. */
export const isAlone = ({ keys }: ModelCall): boolean => keys.writes.includes('*')

/** Its entry in the return value of `discard`. */
export const discardedCall = (call: ModelCall, hasRun: boolean): DiscardedCall => ({
  id: call.label,
  name: call.name,
  started: hasRun,
  completed: isOver(call),
})
