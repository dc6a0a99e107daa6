import type { ToolCall } from '../pipeline/tool-call.ts'

/**
 * Bodies that add a call to their own executor and wait for it, although it can only start when they are over. Found out
 * in a body's first step only, up to its first pause: who calls later cannot be told without a cost for every promise.
 */
export class OwnWaits {
  readonly #answer: (inner: ToolCall, by: ToolCall) => void
  /** Made when it is needed: hardly any body does this. */
  #stuck: Set<object> | undefined
  /** The body whose first step runs. Fields in place of an object: one per call would cost more than the rest of this. */
  #call: ToolCall | undefined
  /** Calls that this body added and that cannot start before it is over. */
  #inner: ToolCall[] | undefined
  /** The body reads, listens or waits for the executor to be idle. */
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
      // narrowed to nothing by what stands above: a body may have set both
      const inner = (this.#waits as boolean) ? (this.#inner as ToolCall[] | undefined) : undefined
      this.#call = outerCall
      this.#inner = outerInner
      this.#waits = outerWaits
      if (inner !== undefined) {
        this.#stuck ??= new Set()
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

  /** It waited for a call that could not start: what it reads comes to an end at its own result. */
  isStuck(call: object): boolean {
    return this.#stuck?.has(call) === true
  }

  /** Whoever waits now; undefined where no body is in its first step. */
  waits(): ToolCall | undefined {
    if (this.#call !== undefined) this.#waits = true
    return this.#call
  }
}
