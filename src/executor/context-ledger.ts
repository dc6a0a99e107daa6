import { answerAtOnce } from '../errors/answer-at-once.ts'
import { type PermissionLists, withRules } from '../permission/permission-settings.ts'
import type { SafeRun } from '../pipeline/call-facts.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'

/** The context as the calls change it, strictly in the order in which the model asked. */
export class ContextLedger {
  current: ToolUseContext
  readonly #check: (context: ToolUseContext) => void
  #lastRun: SafeRun | undefined
  readonly #due: ToolCall[] = []

  /** `check` throws at a context that nobody could work with, and a later executor would refuse. */
  constructor(initial: ToolUseContext, check: (context: ToolUseContext) => void) {
    this.current = initial
    this.#check = check
  }

  /** Calls that never run change nothing: they do not part two runs of safe calls. */
  received(call: ToolCall): void {
    if (call.isAnswered) return
    if (!call.isSafe) this.#lastRun = undefined
    else call.safeRun = this.#lastRun ??= { base: undefined }
  }

  contextFor(call: ToolCall): ToolUseContext {
    this.applyDue()
    if (!call.isSafe || call.safeRun === undefined) return this.current
    call.safeRun.base ??= this.current
    return call.safeRun.base
  }

  /** Rules that hold from now on, whoever reads the context next. */
  addRules(lists: PermissionLists): void {
    this.applyDue()
    this.current = { ...this.current, permissions: withRules(this.current.permissions, lists) }
  }

  /** The same without applying anything: undefined while something is due. */
  peek(call: ToolCall): ToolUseContext | undefined {
    const base = call.isSafe ? call.safeRun?.base : undefined
    if (base !== undefined) return base
    return this.#due.length === 0 ? this.current : undefined
  }

  /** The call and all calls before it are completed. Its modifier is user code: it runs when the charts are at rest. */
  settledInOrder(call: ToolCall): void {
    this.#due.push(call)
  }

  /** Whoever looks at the context first applies what is due; the outbox does so in any case. */
  applyDue(): void {
    for (let call = this.#due.shift(); call !== undefined; call = this.#due.shift()) {
      if (call.ending?.by === 'result' && call.settled?.ok === true)
        this.#apply(call, call.settled.result.contextModifier)
      call.contextAfter = this.current
    }
  }

  #apply(call: ToolCall, modifier: unknown): void {
    if (modifier === undefined) return
    try {
      if (typeof modifier !== 'function') throw new TypeError('contextModifier is not a function')
      const next: unknown = answerAtOnce<unknown>(modifier(this.current))
      if (typeof next !== 'object' || next === null) throw new TypeError('contextModifier returned no context')
      this.#check(next as ToolUseContext)
      this.current = next as ToolUseContext
    } catch (error) {
      call.turn.warn(call, 'context_modifier_failed', 'its context modifier failed and was left out', error)
    }
  }
}
