import type { JournalRecord } from '../../src/durable/index.ts'
import { lostChanges } from '../../src/durable/lost-changes.ts'
import { SessionFold } from '../../src/durable/session-fold.ts'
import type { UserMessage } from '../../src/index.ts'
import type { SessionRecord } from '../../src/journal/records.ts'
import type { RunLog } from '../../src/journal/run-log.ts'

/** A log whose flushes and failures are the test's to decide. */
export class TestLog implements RunLog {
  readonly session = 'test-session'
  readonly records: SessionRecord[] = []
  readonly fold = new SessionFold()
  contextKeys: readonly string[] = []
  failure: unknown
  readonly offers: unknown[] = []
  readonly #listeners = new Set<(error: unknown) => void>()
  #held: ((isDurable: boolean) => void)[] | undefined

  constructor(before: readonly SessionRecord[] = []) {
    for (const record of before) this.append(record)
  }

  lostChanges(before: object, after: object): string[] {
    return lostChanges({ ...before }, { ...after }, this.contextKeys)
  }

  get turn() {
    return this.fold.turn
  }

  get background() {
    return [...this.fold.background.values()]
  }

  get backgroundCount(): number {
    return this.fold.backgroundCount
  }

  get turns(): number {
    return this.fold.turns
  }

  get usesFallback(): boolean {
    return this.fold.usesFallback
  }

  get waiting(): string[] {
    return this.fold.waiting.map(({ uuid }: UserMessage) => uuid)
  }

  get types(): string[] {
    return this.records.map(({ t }) => t)
  }

  get recovered(): undefined {
    return undefined
  }

  takeReports(): [] {
    return []
  }

  hasReply(id: string): boolean {
    return this.fold.replies.has(id)
  }

  append(record: SessionRecord): void {
    if (this.failure !== undefined) return
    this.records.push(record)
    this.fold.take(record as unknown as JournalRecord)
  }

  flush(): Promise<boolean> | undefined {
    if (this.failure !== undefined) return Promise.resolve(false)
    return this.#held && new Promise((resolve) => this.#held?.push(resolve))
  }

  flushContent(): Promise<boolean> | undefined {
    return this.flush()
  }

  /** From now on nothing becomes durable by itself. */
  hold(): void {
    this.#held ??= []
  }

  /** Everything so far is durable, and what follows is at once. */
  release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const resolve of held) resolve(true)
  }

  fail(error: unknown = new Error('no space')): void {
    this.failure = error
    const held = this.#held ?? []
    this.#held = undefined
    for (const listener of [...this.#listeners]) listener(error)
    for (const resolve of held) resolve(false)
  }

  onFailure(listener: (error: unknown) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  questionId(reply: string, call: string): string {
    return `${reply} ${call}`
  }

  offer(question: string, answer: unknown): void {
    this.offers.push([question, answer])
  }

  async openAgent(): Promise<never> {
    throw new Error('not needed here')
  }
}
