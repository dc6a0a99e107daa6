import type { PermissionAnswer, ToolResultBlock } from 'signalbox'

/** A prompt that must be answered before a call may run. */
export interface ServedQuestion {
  readonly message: string
}

export type CallNews =
  | { readonly type: 'question'; readonly question: ServedQuestion }
  | { readonly type: 'result'; readonly block: ToolResultBlock }

/** One call of a client, from request to result. It may take several requests: prompts come in between. */
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

  /** Aborts when the client no longer wants the result. */
  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  stop(reason: unknown): void {
    this.#stopping.abort(reason)
    this.answer({ behavior: 'deny', message: 'The client cancelled this call. It did not run.' })
  }

  /** A client that never answers must not block the others. */
  ask(asked: ServedQuestion, ms: number): Promise<PermissionAnswer> {
    return new Promise((resolve) => {
      const tooLate = (): boolean =>
        this.answer({
          behavior: 'deny',
          message: `The permission prompt timed out after ${ms} ms. The call did not run.`,
        })
      const timer = setTimeout(tooLate, ms)
      const answer = (given: PermissionAnswer): void => {
        clearTimeout(timer)
        resolve(given)
      }
      this.#question = { asked, answer }
      this.#wake?.()
    })
  }

  /** False if there is no prompt. */
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

  /** The result, or the next prompt. */
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
