import type { ExecutorSchedule, LockBook } from '../../../machines/index.ts'
import { explainLocks } from '../../pipeline/locking.ts'
import type { ToolCall } from '../../pipeline/tool-call.ts'
import type { LocksFrame } from '../frames/frame.ts'
import type { Show } from '../frames/redact.ts'
import { asText } from './call-frames.ts'
import type { ShowKey } from './schedule-watch.ts'

/** A longer search at each step would slow the run that is watched. */
const maxLookedAt = 64
const maxHolders = 20

/** Finds the calls that wait for keys which several executors share, and who holds them. */
export class LockWatch {
  readonly #run: ExecutorSchedule
  readonly #show: Show
  readonly #showKey: ShowKey
  readonly #onChange: () => void
  /** What was last told about each call that waits. */
  readonly #told = new Map<string, string>()
  readonly #leave = new Map<LockBook, () => void>()

  /** @param onChange a call of any executor took or released keys; called in the middle of the step of a book */
  constructor(run: ExecutorSchedule, show: Show, showKey: ShowKey, onChange: () => void) {
    this.#run = run
    this.#show = show
    this.#showKey = showKey
    this.#onChange = onChange
  }

  /** All calls that wait now, for a new reader. */
  picture(): LocksFrame[] {
    this.#told.clear()
    return this.changes()
  }

  /** Calls that wait for others than before, or no longer. */
  changes(): LocksFrame[] {
    const found: LocksFrame[] = []
    const waiting = new Set<string>()
    for (const call of this.#waiting()) {
      waiting.add(call.id)
      const frame = this.#frameOf(call)
      const text = JSON.stringify(frame)
      if (this.#told.get(call.id) === text) continue
      this.#told.set(call.id, text)
      found.push(frame)
    }
    for (const call of this.#told.keys()) {
      if (waiting.has(call)) continue
      this.#told.delete(call)
      found.push({ type: 'locks', call, key: null, holders: [] })
    }
    return found
  }

  leave(): void {
    for (const leave of this.#leave.values()) leave()
    this.#leave.clear()
  }

  *#waiting(): Generator<ToolCall> {
    let looked = 0
    for (const record of this.#run.executing) {
      if (looked++ === maxLookedAt) return
      const call = record as ToolCall
      // the calls of a stored log have no executor, and no keys
      if (call.lock?.state !== 'waiting') continue
      const book = call.executor.locks?.book
      if (book === undefined) continue
      if (!this.#leave.has(book)) this.#leave.set(book, book.onChange(this.#onChange))
      yield call
    }
  }

  #frameOf(call: ToolCall): LocksFrame {
    const wait = explainLocks(call)
    const { key, holders = [] } = wait === undefined || wait.ok ? {} : wait
    return {
      type: 'locks',
      call: call.id,
      key: key === undefined ? null : this.#showKey(key, call),
      holders: holders.slice(0, maxHolders).map(({ toolUseID, toolName, session, ...rest }) => ({
        call: toolUseID,
        name: toolName,
        ...(session !== undefined && { session: asText(this.#show(session, { what: 'worker' })) }),
        ...rest,
      })),
    }
  }
}
