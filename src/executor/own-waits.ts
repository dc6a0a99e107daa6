import type { ToolCall } from '../pipeline/tool-call.ts'

/**
 * Detects bodies that add a call to their own executor and wait for it, although the call can only start after the body
 * ends. Detected only in a body's first step, before its first await: later calls cannot be attributed without a cost for
 * every promise.
 */
export class OwnWaits {
  readonly #answer: (inner: ToolCall, by: ToolCall) => void
  readonly #stuck = new WeakSet<object>()
  /** The body whose first step is running. Fields instead of an object, because an object per call would cost more. */
  #call: ToolCall | undefined
  /** Calls that this body added and that cannot start before it ends. */
  #inner: ToolCall[] | undefined
  /** The body reads results, listens, or waits for the executor to be idle. */
  #waits = false

  constructor(answer: (inner: ToolCall, by: ToolCall) => void) {
    this.#answer = answer
  }

  inBody<Input, Value>(call: ToolCall, start: (call: ToolCall, input: Input) => Value, input: Input): Value {
    const outerCall = this.#call
    const outerInner = this.#inner
    const outerWaits = this.#waits
    this.#call = call
    this.#inner = undefined
    this.#waits = false
    try {
      return start(call, input)
    } finally {
      // TypeScript narrows both to undefined, but the body may have set them
      const inner = (this.#waits as boolean) ? (this.#inner as ToolCall[] | undefined) : undefined
      this.#call = outerCall
      this.#inner = outerInner
      this.#waits = outerWaits
      if (inner !== undefined) {
        this.#stuck.add(call)
        for (const each of inner) this.#answer(each, call)
      }
    }
  }

  added(call: ToolCall): void {
    const outer = this.#call
    if (outer === undefined || call.stage !== 'queued' || (call.isSafe && outer.isSafe)) return
    this.#inner ??= []
    this.#inner.push(call)
  }

  /** The call waited for a call that could not start: what it reads ends at its own result. */
  isStuck(call: object): boolean {
    return this.#stuck.has(call)
  }

  /** Returns the body in its first step, which waits now; undefined if there is none. */
  waits(): ToolCall | undefined {
    if (this.#call !== undefined) this.#waits = true
    return this.#call
  }
}
