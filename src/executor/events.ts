/** What went wrong without costing a result. */
export type WarningCode =
  /** A body was told to stop, did not, and the turn went on without it. */
  | 'abandoned'
  /** A body that nobody waits for any more sent something; it was dropped. */
  | 'late'
  /** Progress after the result, a second result, or something that is neither. */
  | 'unexpected_chunk'
  /** The tool returned something other than `{ data }`; it was taken as the data. */
  | 'unexpected_return'
  | 'invalid_new_messages'
  | 'context_modifier_failed'
  /** A callback of the host threw. */
  | 'host_callback_failed'

export interface ExecutorWarning {
  readonly code: WarningCode
  readonly message: string
  readonly toolUseID?: string
  readonly toolName?: string
  /** How often this has happened for this call so far. */
  readonly count: number
  readonly error?: unknown
}

export interface ExecutorEvents {
  warning: ExecutorWarning
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

  emit<Type extends keyof ExecutorEvents>(type: Type, event: ExecutorEvents[Type]): void {
    for (const listener of [...(this.#listeners.get(type) ?? [])]) {
      try {
        ;(listener as Listener<ExecutorEvents[Type]>)(event)
      } catch {
        // a listener only looks on: its trouble must not become the turn's
      }
    }
  }
}
