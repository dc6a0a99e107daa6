import { LockBook, type LockClaim } from '../../machines/index.ts'

/** A call that holds shared keys, or waits for them. */
export interface LockHolder {
  readonly toolUseID: string
  readonly toolName: string
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
export const createLocks = (): Locks => new SharedLocks(new LockBook(), undefined)

/** The locks as the calls of one executor see them. */
export class SharedLocks implements Locks {
  readonly #book: LockBook
  readonly #outer: LockClaim | undefined

  constructor(book: LockBook, outer: LockClaim | undefined) {
    this.#book = book
    this.#outer = outer
  }

  get book(): LockBook {
    return this.#book
  }

  /** The call that the executor runs inside of. */
  get outer(): LockClaim | undefined {
    return this.#outer
  }

  /** The same locks for what runs inside of a call. */
  inside(claim: LockClaim): SharedLocks {
    return new SharedLocks(this.#book, claim)
  }

  holders(): LockHolder[] {
    return this.#book.claims.map(({ id, name, keys: { reads, writes }, state }) => ({
      toolUseID: id,
      toolName: name,
      reads,
      writes,
      isWaiting: state === 'waiting',
    }))
  }
}
