import { aFunction, oneOf, requireOption } from './option-rules.ts'
import { answerAtOnce } from './when-settled.ts'

type Listener<Event> = (event: Event) => void

/** Throws at an event that does not exist: its listener would never be called. */
export function checkListener(type: unknown, listener: unknown, types: readonly string[]): void {
  requireOption('event', type, oneOf(...types))
  requireOption(`listener of ${type}`, listener, aFunction)
}

/** Listeners of the host, by event type. */
export class Emitter<Events extends object> {
  /** Created for the first listener. */
  #listeners: Map<keyof Events, Set<Listener<never>>> | undefined

  on<Type extends keyof Events>(type: Type, listener: Listener<Events[Type]>): () => void {
    this.#listeners ??= new Map()
    const listeners = this.#listeners.get(type) ?? new Set()
    this.#listeners.set(type, listeners.add(listener as Listener<never>))
    return () => void listeners.delete(listener as Listener<never>)
  }

  has(type: keyof Events): boolean {
    return (this.#listeners?.get(type)?.size ?? 0) > 0
  }

  get hasAny(): boolean {
    return this.#listeners !== undefined
  }

  emit<Type extends keyof Events>(type: Type, event: Events[Type]): void {
    const listeners = this.#listeners?.get(type)
    if (listeners === undefined || listeners.size === 0) return
    for (const listener of [...listeners]) {
      try {
        answerAtOnce<unknown>((listener as Listener<Events[Type]>)(event))
      } catch {
        // a listener only observes: its failure must not affect the run
      }
    }
  }
}
