import { Emitter } from '../base/emitter.ts'
import type { Message } from '../messages/message.ts'
import type { WarningCode } from '../pipeline/executor-services.ts'
import { type TelemetryEvents, telemetryTypes } from '../pipeline/telemetry.ts'
import type { OpenQuestion } from './open-question.ts'

export interface ExecutorWarning {
  readonly code: WarningCode
  readonly message: string
  readonly toolUseID?: string
  readonly toolName?: string
  /** How often this has happened for this call so far. */
  readonly count: number
  readonly error?: unknown
}

export interface ExecutorEvents extends TelemetryEvents {
  /** What went wrong without costing a result. */
  warning: ExecutorWarning
  /**
   * The messages of a call as soon as they are there, ahead of the order in which readers get them: for hosts that answer
   * each call by itself. They have to be read all the same.
   */
  completed: CompletedCall
  /**
   * A call waits for an answer that comes later: a hook said `defer`, or `canUseTool` said `later`. It is among the
   * `openQuestions` until `answer` ends it.
   */
  deferred: OpenQuestion
  /** A message as a reader takes it: progress, a result, or what a call leaves beside it. */
  message: TakenMessage
}

export interface CompletedCall {
  readonly toolUseID: string
  /** Its result first, then what it leaves beside it. */
  readonly messages: readonly Message[]
}

export interface TakenMessage {
  readonly message: Message
  /** The call it belongs to. */
  readonly toolUseID: string
}

export class ExecutorEmitter extends Emitter<ExecutorEvents> {
  get hasTelemetry(): boolean {
    return this.hasAny && telemetryTypes.some((type) => this.has(type))
  }
}
