import type { AnyActorRef } from 'xstate'
import type { CallPort } from './call-port.ts'

/** The status of a call in the executor. `withdrawn`: told to end before it ever ran. */
export type CallStage = 'queued' | 'held' | 'withdrawn' | 'executing' | 'completed' | 'yielded'

/** The executor's record of one call. Only the executor chart writes it, in place: copies would cost O(N) per event. */
export interface CallRecord {
  readonly id: string
  readonly name: string
  readonly yieldsToInterrupt: boolean
  readonly port: CallPort
  /** May run in parallel with other safe calls. A rewritten input can make it unsafe. */
  isSafe: boolean
  /** Position in the order of the model's calls. */
  index: number
  stage: CallStage
  hasStarted: boolean
  /** Its body has started: it may have had effects. */
  readonly hasBegun: boolean
  /** The call's actor, from the moment the executor received the call. */
  ref: AnyActorRef | undefined
}
