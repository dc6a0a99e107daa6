import type { DiscardedCall } from '../../src/index.ts'
import type { CallPlan } from './turn-view.ts'

type Stage = 'ignored' | 'waiting' | 'asking' | 'running' | 'stopping' | 'completed' | 'yielded'

/** A call as the model sees it. */
export interface ModelCall {
  readonly label: string
  readonly name: string
  readonly plan: CallPlan
  stage: Stage
  held: boolean
  /** Whether it was ever in `executing`. */
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

/** Input that does not match the schema makes any call unsafe. */
export const isSafe = ({ plan }: ModelCall): boolean => plan.safe && plan.fault !== 'invalid'

/** Its entry in the return value of `discard`. */
export const discardedCall = (call: ModelCall, hasRun: boolean): DiscardedCall => ({
  id: call.label,
  name: call.name,
  started: hasRun,
  completed: isOver(call),
})
