import { keyOf, type SessionNote } from './journal.ts'

/** Notes that no record has copied yet, and their listeners. */
export class NoteQueue {
  /** Keys of all notes that were delivered or copied. */
  readonly #known = new Set<string>()
  readonly #waiting = new Map<string, SessionNote>()
  readonly #listeners = new Set<(note: SessionNote) => void>()

  /** A record has copied this note: it is not delivered again. */
  copied(key: string): void {
    this.#known.add(key)
    this.#waiting.delete(key)
  }

  deliver(note: SessionNote): void {
    const key = keyOf(note)
    if (this.#known.has(key)) return
    this.#known.add(key)
    this.#waiting.set(key, note)
    for (const listener of this.#listeners) this.#tell(listener, key)
  }

  listen(hear: (note: SessionNote) => void): () => void {
    const listener = (note: SessionNote) => hear(note)
    this.#listeners.add(listener)
    for (const key of this.#waiting.keys()) this.#tell(listener, key)
    return () => void this.#listeners.delete(listener)
  }

  /** No listener is called from now on. */
  stop(): void {
    this.#listeners.clear()
  }

  /** Later, so that a listener never runs inside the call that posted, opened or listened. */
  #tell(listener: (note: SessionNote) => void, key: string): void {
    queueMicrotask(() => {
      const note = this.#waiting.get(key)
      if (note !== undefined && this.#listeners.has(listener)) listener(note)
    })
  }
}
