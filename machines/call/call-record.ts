import type { AnyActorRef } from 'xstate'
import type { CallPort } from './call-port.ts'
import type { ResourceKeys } from './resource-keys.ts'

/** The status of a call in the executor. `withdrawn`: told to end before it ever ran. */
export type CallStage = 'queued' | 'held' | 'withdrawn' | 'executing' | 'completed' | 'yielded'

/** The effect of a changed input or context on a call. */
export interface Reclassification {
  readonly isSafe: boolean
  readonly keys: ResourceKeys | undefined
}

/** The executor's record of one call. Only the executor chart writes it, in place: copies would cost O(N) per event. */
export interface CallRecord {
  readonly id: string
  readonly name: string
  readonly yieldsToInterrupt: boolean
  readonly port: CallPort
  /** May run in parallel with other safe calls. A rewritten input can make it unsafe. */
  isSafe: boolean
  /** The resources that it names. Undefined: `isSafe` alone decides what may run beside it. */
  keys: ResourceKeys | undefined
  /** Position in the order of the model's calls. */
  index: number
  stage: CallStage
  hasStarted: boolean
  /** Its body has started: it may have had effects. */
  readonly hasBegun: boolean
  /** The call's actor, from the moment the executor received the call. */
  ref: AnyActorRef | undefined
}
