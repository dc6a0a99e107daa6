import { answerAtOnce } from '../errors/answer-at-once.ts'
import type { Message } from '../messages/message.ts'
import type { WarningCode } from '../pipeline/call-host.ts'
import { type TelemetryEvents, telemetryTypes } from '../pipeline/telemetry.ts'

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
  settled: SettledCall
  /** A message as a reader takes it: progress, a result, or what a call leaves beside it. */
  message: TakenMessage
}

export interface SettledCall {
  readonly toolUseID: string
  /** Its result first, then what it leaves beside it. */
  readonly messages: readonly Message[]
}

export interface TakenMessage {
  readonly message: Message
  /** The call it belongs to. */
  readonly toolUseID: string
}

type Listener<Event> = (event: Event) => void

/** Listeners of the host. One that throws harms nobody. */
export class Emitter {
  readonly #listeners = new Map<keyof ExecutorEvents, Set<Listener<never>>>()

  on<Type extends keyof ExecutorEvents>(type: Type, listener: Listener<ExecutorEvents[Type]>): () => void {
    const listeners = this.#listeners.get(type) ?? new Set()
    this.#listeners.set(type, listeners.add(listener as Listener<never>))
    return () => void listeners.delete(listener as Listener<never>)
  }

  has(type: keyof ExecutorEvents): boolean {
    return (this.#listeners.get(type)?.size ?? 0) > 0
  }

  get hasTelemetry(): boolean {
    return this.#listeners.size > 0 && telemetryTypes.some((type) => this.has(type))
  }

  emit<Type extends keyof ExecutorEvents>(type: Type, event: ExecutorEvents[Type]): void {
    for (const listener of [...(this.#listeners.get(type) ?? [])]) {
      try {
        answerAtOnce<unknown>((listener as Listener<ExecutorEvents[Type]>)(event))
      } catch {
        // a listener only looks on: its trouble must not become the turn's
      }
    }
  }
}
