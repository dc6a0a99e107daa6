import type { ToolResultBlock } from '../../messages/message.ts'
import type { PermissionAnswer } from '../../tool/permission.ts'

/** What somebody has to be asked before a call may run. */
export interface ServedQuestion {
  readonly message: string
}

export type CallNews =
  | { readonly type: 'question'; readonly question: ServedQuestion }
  | { readonly type: 'result'; readonly block: ToolResultBlock }

/** One call of a client, from its request to its result. It may take several requests: questions come in between. */
export class ServedCall {
  readonly id: string
  readonly #stopping = new AbortController()
  onProgress: ((data: unknown) => void) | undefined
  #result: ToolResultBlock | undefined
  #question: { readonly asked: ServedQuestion; answer(answer: PermissionAnswer): void } | undefined
  #wake: (() => void) | undefined

  constructor(id: string) {
    this.id = id
  }

  /** Aborts when the client wants no result any more. */
  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  stop(reason: unknown): void {
    this.#stopping.abort(reason)
    this.answer({ behavior: 'deny', message: 'The client cancelled this call. It did not run.' })
  }

  /** A client that never answers must not keep everybody else waiting. */
  ask(asked: ServedQuestion, ms: number): Promise<PermissionAnswer> {
    return new Promise((resolve) => {
      const tooLate = (): boolean =>
        this.answer({ behavior: 'deny', message: `Nobody answered within ${ms} ms. The call did not run.` })
      const timer = setTimeout(tooLate, ms)
      const answer = (given: PermissionAnswer): void => {
        clearTimeout(timer)
        resolve(given)
      }
      this.#question = { asked, answer }
      this.#wake?.()
    })
  }

  /** False where nothing is asked. */
  answer(answer: PermissionAnswer): boolean {
    const question = this.#question
    this.#question = undefined
    question?.answer(answer)
    return question !== undefined
  }

  settle(block: ToolResultBlock): void {
    this.#result ??= block
    this.#wake?.()
  }

  /** The result, or the next question on the way to it. */
  async news(): Promise<CallNews> {
    for (;;) {
      if (this.#result !== undefined) return { type: 'result', block: this.#result }
      if (this.#question !== undefined) return { type: 'question', question: this.#question.asked }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}
