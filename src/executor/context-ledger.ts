import { isExclusive } from '../../machines/index.ts'
import { Fifo } from '../base/fifo.ts'
import { answerAtOnce } from '../base/when-settled.ts'
import { type PermissionLists, withRules } from '../permission/permission-settings.ts'
import type { SafeGroup } from '../pipeline/call-facts.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'

/** The context as the calls change it, strictly in emission order. */
export class ContextLedger {
  current: ToolUseContext
  readonly #controller: AbortController
  readonly #check: (context: ToolUseContext) => void
  #lastRun: SafeGroup | undefined
  readonly #due = new Fifo<ToolCall>()

  /** `check` throws for a context that is unusable or that a later executor would reject. */
  constructor(initial: ToolUseContext, check: (context: ToolUseContext) => void) {
    this.current = initial
    this.#controller = initial.abortController
    this.#check = check
  }

  /** Calls that never run change nothing: they do not separate two groups. */
  received(call: ToolCall): void {
    if (call.isAnswered) return
    if (isExclusive(call)) this.#lastRun = undefined
    else call.safeGroup = this.#lastRun ??= { base: undefined }
  }

  /** The context after all completed calls, up to the first that is not. */
  latest(): ToolUseContext {
    this.applyDue()
    return this.current
  }

  contextFor(call: ToolCall): ToolUseContext {
    this.applyDue()
    if (isExclusive(call) || call.safeGroup === undefined) return this.current
    call.safeGroup.base ??= this.current
    return call.safeGroup.base
  }

  /** Adds rules that apply from now on to every reader of the context. */
  addRules(lists: PermissionLists): void {
    this.applyDue()
    this.current = { ...this.current, permissions: withRules(this.current.permissions, lists) }
  }

  /** The same without applying modifiers: undefined while some are due. */
  peek(call: ToolCall): ToolUseContext | undefined {
    const base = isExclusive(call) ? undefined : call.safeGroup?.base
    if (base !== undefined) return base
    return this.#due.length === 0 ? this.current : undefined
  }

  /** The call and all calls before it are completed. Its modifier is user code, so it runs between steps. */
  completedInOrder(call: ToolCall): void {
    this.#due.push(call)
  }

  /** The first reader of the context applies what is due; the outbox does so in any case. */
  applyDue(): void {
    for (let call = this.#due.shift(); call !== undefined; call = this.#due.shift()) {
      this.#apply(call)
      call.contextAfter = this.current
      call.onContextApplied?.(call)
    }
  }

  /** What the modifier of a call would change now. Undefined if it has been applied. */
  preview(call: ToolCall): { before: ToolUseContext; after: ToolUseContext } | undefined {
    const before = this.latest()
    if (call.contextAfter !== undefined) return undefined
    try {
      return { before, after: this.#changedBy(call) }
    } catch {
      // told when it is applied
      return { before, after: before }
    }
  }

  #apply(call: ToolCall): void {
    try {
      const changed = this.#changedBy(call)
      warnOfLostChanges(call, this.current, changed)
      this.current = changed
    } catch (error) {
      call.executor.warn(call, 'context_modifier_failed', 'its context modifier failed and was not applied', error)
    }
  }

  #changedBy({ ending, bodyResult, past }: ToolCall): ToolUseContext {
    if (past?.changes !== undefined) return { ...this.current, ...past.changes }
    const modifier: unknown =
      ending?.by === 'result' && bodyResult?.ok === true ? bodyResult.result.contextModifier : undefined
    if (modifier === undefined) return this.current
    if (typeof modifier !== 'function') throw new TypeError('contextModifier must be a function')
    const next: unknown = answerAtOnce<unknown>(modifier(this.current))
    if (typeof next !== 'object' || next === null) throw new TypeError('contextModifier must return the context')
    const own = this.#withHostController(next as ToolUseContext)
    this.#check(own)
    return own
  }

  /** Keeps the host's controller: a modifier that spreads its call's context would bring the call's own controller. */
  #withHostController(next: ToolUseContext): ToolUseContext {
    const abortController = this.#controller
    return next.abortController === abortController ? next : { ...next, abortController }
  }
}

function warnOfLostChanges(call: ToolCall, before: ToolUseContext, after: ToolUseContext): void {
  for (const lost of call.executor.log?.lostChanges(before, after) ?? [])
    call.executor.warn(call, 'context_not_durable', `its context modifier changed ${lost}`)
}
