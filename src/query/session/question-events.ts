import type { SessionQuestion } from './question-book.ts'

interface Listener {
  opened(question: SessionQuestion): void
  closed(id: string): void
}

/** Tells once when a question opens, and once when it closes. One whose run is suspended stays open. */
export class QuestionEvents {
  readonly #list: () => readonly SessionQuestion[]
  readonly #listener: Listener
  /** Open questions by id, and whether anybody was told. */
  readonly #open = new Map<string, boolean>()

  /** @param list the questions that are open now */
  constructor(list: () => readonly SessionQuestion[], listener: Listener) {
    this.#list = list
    this.#listener = listener
  }

  /** Questions that opened in an earlier process: somebody may have listed them. */
  know(questions: readonly SessionQuestion[]): void {
    for (const { id } of questions) this.#open.set(id, false)
  }

  opened(question: SessionQuestion): void {
    if (this.#open.get(question.id) === true) return
    this.#open.set(question.id, true)
    this.#listener.opened(question)
  }

  /** Called when a question may have closed. */
  check(): void {
    if (this.#open.size === 0) return
    const listed = new Set(this.#list().map(({ id }) => id))
    const closed = [...this.#open.keys()].filter((id) => !listed.has(id))
    for (const id of closed) if (this.#open.delete(id)) this.#listener.closed(id)
  }
}
