import { isSignalboxError } from '../base/signalbox-error.ts'
import type { SessionNote } from './journal.ts'
import { journalCorrupt } from './journal-errors.ts'

/** A note in a store: its key, and the note as JSON. */
export type StoredNote = readonly [key: string, body: string]

interface Owner {
  readonly id: string
  deliver(note: SessionNote): void
  fail(error: unknown): void
}

/** For stores: delivers the notes of a session to its owner, in order and each once. */
export class NoteInbox {
  /** The owner has closed the session: nothing is delivered any more. */
  isOver = false
  readonly #owner: Owner
  readonly #read: (seen: ReadonlySet<string>) => Promise<readonly StoredNote[]>
  readonly #seen = new Set<string>()
  #isHinted = false
  #isBusy = false

  /**
   * @param read returns the notes of the session in their order; it may leave out those that were seen. A
   * `SignalboxError` is final, such as `sessionFenced`: an owner that only waits for notes learns it here. After any other
   * error, the next look tries again.
   */
  constructor(owner: Owner, read: (seen: ReadonlySet<string>) => Promise<readonly StoredNote[]>) {
    this.#owner = owner
    this.#read = read
  }

  /** The notes of an opening. Rejects if they cannot be read: without them, a session seems to have nothing to do. */
  async lookFirst(): Promise<void> {
    this.#isBusy = true
    try {
      await this.#deliverNew()
    } finally {
      this.#isBusy = false
    }
    if (this.#isHinted) await this.look()
  }

  /** Reads the notes now, and once more if they change meanwhile. Never rejects: the next call tries again. */
  async look(): Promise<void> {
    this.#isHinted = true
    if (this.#isBusy) return
    this.#isBusy = true
    while (this.#isHinted && !this.isOver) {
      this.#isHinted = false
      await this.#deliverNew().catch((error: unknown) => {
        if (!this.isOver && isSignalboxError(error)) this.#owner.fail(error)
      })
    }
    this.#isBusy = false
  }

  async #deliverNew(): Promise<void> {
    for (const [key, body] of await this.#read(this.#seen)) {
      if (this.isOver || this.#seen.has(key)) continue
      this.#seen.add(key)
      this.#deliver(key, body)
    }
  }

  /** A note that cannot be read stays so: its sender was told that it is accepted, so the owner must not go on without it. */
  #deliver(key: string, body: string): void {
    let note: SessionNote
    try {
      note = JSON.parse(body)
    } catch (error) {
      return this.#owner.fail(journalCorrupt(this.#owner.id, `the note ${key}`, (error as Error).message, error))
    }
    this.#owner.deliver(note)
  }
}
