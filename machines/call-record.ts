import type { AnyActorRef } from 'xstate'
import type { CallPort } from './call-port.ts'

/** Where a call stands in the eyes of the executor. `withdrawn`: told to end before it ever ran. */
export type CallStage = 'queued' | 'held' | 'withdrawn' | 'executing' | 'completed' | 'yielded'

/** One call in the executor's books. Only the executor chart writes it, in place: copies would cost O(N) per event. */
export interface CallRecord {
  readonly id: string
  readonly name: string
  readonly yieldsToInterrupt: boolean
  readonly port: CallPort
  /** May run beside other safe calls. A rewritten input can take that away. */
  isSafe: boolean
  /** Place in the order in which the model asked. */
  index: number
  stage: CallStage
  hasStarted: boolean
  /** The call's actor, from the moment the executor received the call. */
  ref: AnyActorRef | undefined
}
