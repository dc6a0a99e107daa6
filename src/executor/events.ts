import { Emitter } from '../base/emitter.ts'
import type { Message } from '../messages/message.ts'
import type { Place } from '../pipeline/body-link.ts'
import type { WarningCode } from '../pipeline/executor-services.ts'
import { ownInput } from '../pipeline/hook-input.ts'
import { type TelemetryEvents, telemetryTypes } from '../pipeline/telemetry.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'
import type { PermissionQuestion } from '../tool/permission.ts'

export interface ExecutorWarning {
  readonly code: WarningCode
  readonly message: string
  readonly toolUseID?: string
  readonly toolName?: string
  /** How often this has happened for this call. */
  readonly count: number
  readonly error?: unknown
}

export interface ExecutorEvents extends TelemetryEvents {
  /** Non-fatal warnings. */
  warning: ExecutorWarning
  /**
   * The messages of a call as soon as they exist, before readers get them in order: for hosts that answer each call by
   * itself. The messages must still be read.
   */
  completed: CompletedCall
  /**
   * A call waits for an answer that comes later: a hook replied `defer`, or `canUseTool` returned `later`. The call is in
   * `openQuestions` until `answer` ends it.
   */
  deferred: OpenQuestion
  /** Where the body of a remote tool is: it was sent and waits for a worker, or a worker runs it. */
  placed: Place & { readonly toolUseID: string }
  /** A message that a reader takes: progress, a result, or an additional message of a call. */
  message: TakenMessage
}

const own = { warning: true, completed: true, deferred: true, placed: true, message: true } satisfies {
  [Type in Exclude<keyof ExecutorEvents, keyof TelemetryEvents>]: true
}

export const executorEventTypes: readonly string[] = [...Object.keys(own), ...telemetryTypes]

export interface CompletedCall {
  readonly toolUseID: string
  /** The result first, then the additional messages. */
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

/** A call that waits for the host's answer. */
export interface OpenQuestion extends PermissionQuestion {
  readonly toolUseID: string
  readonly toolName: string
  readonly input: unknown
}

export const questionOf = (call: ToolCall): OpenQuestion => ({
  toolUseID: call.id,
  toolName: call.name,
  input: ownInput(call),
  ...call.permit.question,
})
