import { LockBook, type LockClaim } from '../../machines/index.ts'

/** A call that holds shared keys, or waits for them. */
export interface LockHolder {
  readonly toolUseID: string
  readonly toolName: string
  /** The id of its session; absent outside of sessions. */
  readonly session?: string
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  readonly isWaiting: boolean
}

/** Keys that several executors share. Made by `createLocks()`. */
export interface Locks {
  /** The calls that hold keys or wait for them, in order of arrival. */
  holders(): LockHolder[]
}

/**
 * Shares resource keys between executors: put the result into the context of parallel sessions, and their conflicting
 * calls take turns. Agents inherit it with the context.
 *
 * @example
 * const locks = createLocks()
 * const one = createSession({ tools, model, canUseTool, context: { locks } })
 * const other = createSession({ tools, model, canUseTool, context: { locks } })
 */
export const createLocks = (): Locks => new SharedLocks(new LockBook(), undefined, undefined)

/** The locks as the calls of one executor see them. */
export class SharedLocks implements Locks {
  readonly #book: LockBook
  readonly #outer: LockClaim | undefined
  readonly #session: string | undefined

  constructor(book: LockBook, outer: LockClaim | undefined, session: string | undefined) {
    this.#book = book
    this.#outer = outer
    this.#session = session
  }

  get book(): LockBook {
    return this.#book
  }

  /** The call that the executor runs inside of. */
  get outer(): LockClaim | undefined {
    return this.#outer
  }

  /** The session that the calls belong to. */
  get session(): string | undefined {
    return this.#session
  }

  /** The same locks for what runs inside of a call. */
  inside(claim: LockClaim): SharedLocks {
    return new SharedLocks(this.#book, claim, this.#session)
  }

  /** The same locks for the calls of a session. Those of an agent belong to the session around it. */
  inSession(id: string): SharedLocks {
    return this.#outer === undefined ? new SharedLocks(this.#book, undefined, id) : this
  }

  holders(): LockHolder[] {
    return this.#book.claims.map(({ id, name, session, keys: { reads, writes }, state }) => ({
      toolUseID: id,
      toolName: name,
      ...(session !== undefined && { session }),
      reads,
      writes,
      isWaiting: state === 'waiting',
    }))
  }
}
