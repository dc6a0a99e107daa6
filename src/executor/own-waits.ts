import type { Admission } from '../../machines/index.ts'
import { type ContextVariable, contextVariable } from '../base/async-context.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'

/** A body, by names only: whatever it leaves running keeps this object, and must not keep the executor. */
interface Body {
  readonly executor: object
  readonly id: string
  /** The body of another executor around it, such as the one that runs an agent. */
  readonly outer: Body | undefined
}

/** Made at first use: on some platforms it has a cost for every promise. */
let bodies: ContextVariable<Body> | undefined

interface Surroundings {
  /** Identifies the body whose code runs, also after its first `await`. */
  readonly tracksBodies: boolean
  find(id: string): ToolCall | undefined
  explain(call: ToolCall): Admission
  /** Runs a job once the body has paused. */
  push(job: () => void): void
  answer(inner: ToolCall, by: ToolCall): void
}

/**
 * Finds bodies that add a call to their own executor and wait for it, although it can only start after the body ends.
 * If bodies are not tracked, this works only up to the first `await` of a body.
 */
export class OwnWaits {
  readonly #around: Surroundings
  readonly #name = {}
  readonly #bodies: ContextVariable<Body> | undefined
  // all three are created at first use: hardly any body needs them, and every turn has this object
  #stuck: Set<object> | undefined
  /** Calls that a body added and that could not start at once. */
  #inner: Map<ToolCall, ToolCall[]> | undefined
  /** How often a body sleeps, listens or waits for the executor to be idle. */
  #waits: Map<ToolCall, number> | undefined
  /** The body whose first step runs. */
  #first: ToolCall | undefined

  constructor(around: Surroundings) {
    this.#around = around
    if (around.tracksBodies) bodies ??= contextVariable()
    this.#bodies = around.tracksBodies ? bodies : undefined
  }

  inBody<Input, Value>(call: ToolCall, start: (call: ToolCall, input: Input) => Value, input: Input): Value {
    const variable = this.#bodies
    if (variable !== undefined) return variable.run(this.#bodyOf(call, variable.get()), () => start(call, input))
    const before = this.#first
    this.#first = call
    try {
      return start(call, input)
    } finally {
      this.#first = before
    }
  }

  added(call: ToolCall): void {
    const outer = this.current
    if (outer === undefined || outer === call || call.stage !== 'queued') return
    const inner = [...this.#innerOf(outer), call]
    this.#inner ??= new Map()
    this.#inner.set(outer, inner)
    this.#around.push(() => this.#check(outer))
  }

  /** Code begins to wait. Returns the call whose body runs this code, if known. */
  begin(): ToolCall | undefined {
    const call = this.current
    if (call === undefined) return undefined
    this.#waits ??= new Map()
    this.#waits.set(call, (this.#waits.get(call) ?? 0) + 1)
    this.#around.push(() => this.#check(call))
    return call
  }

  end(call: ToolCall | undefined): void {
    if (call !== undefined) this.#waits?.set(call, (this.#waits.get(call) ?? 1) - 1)
  }

  /** The call waited for a call that could not start. From now on, its readers end at its own result. */
  isStuck(call: object): boolean {
    return this.#stuck?.has(call) === true
  }

  /** The call of this executor whose body runs this code. */
  get current(): ToolCall | undefined {
    if (this.#bodies === undefined) return this.#first
    let body = this.#bodies.get()
    while (body !== undefined && body.executor !== this.#name) body = body.outer
    const call = body && this.#around.find(body.id)
    return call?.stage === 'executing' ? call : undefined
  }

  /** Leaves out outer bodies of the same executor: a chain in which each call adds the next would grow without limit. */
  #bodyOf({ id }: ToolCall, around: Body | undefined): Body {
    return { executor: this.#name, id, outer: around?.executor === this.#name ? around.outer : around }
  }

  #check(outer: ToolCall): void {
    if (!this.#isWaiting(outer)) return
    const knots = this.#innerOf(outer).filter((inner) => this.#isKnot(inner, outer))
    if (knots.length === 0) return
    this.#stuck ??= new Set()
    this.#stuck.add(outer)
    for (const inner of knots) this.#around.answer(inner, outer)
  }

  #isWaiting(call: ToolCall): boolean {
    return call.stage === 'executing' && (this.#waits?.get(call) ?? 0) > 0 && this.#innerOf(call).length > 0
  }

  /** Whether the inner call can only start after the outer one: it waits for that call, directly or through others. */
  #isKnot(inner: ToolCall, outer: ToolCall): boolean {
    const admission = this.#around.explain(inner)
    if (admission.ok) return false
    const blockers = admission.blockers.flatMap((id) => this.#around.find(id) ?? [])
    if (admission.because === 'full') return blockers.every((each) => this.#isWaiting(each))
    return blockers.some((each) => each === outer || (each.stage === 'queued' && this.#isKnot(each, outer)))
  }

  #innerOf(outer: ToolCall): ToolCall[] {
    return (this.#inner?.get(outer) ?? []).filter(({ stage }) => stage === 'queued')
  }
}
