import { assertPermissions } from '../executor/check-context.ts'
import type { ExecutorInner } from '../executor/executor-parts.ts'
import { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'
import { type PermissionLists, withRules } from '../permission/permission-settings.ts'
import { observeRules, propagateRules } from '../pipeline/rule-propagation.ts'
import type { CanUseTool } from '../tool/permission.ts'
import { createToolUseContext, type ToolUseContext } from '../tool/tool-use-context.ts'
import type { QueryOptions } from './options.ts'
import { PresentTools } from './present-tools.ts'

/** The setup of each attempt at a reply: the current tools, the context so far, and the rules. */
export class AttemptSetup {
  readonly tools: PresentTools
  context: ToolUseContext
  readonly #options: Pick<QueryOptions, 'canUseTool' | 'executor'>
  readonly #canUseTool: CanUseTool | undefined
  /** The context when the current attempt began. */
  #before: ToolUseContext
  /** The rules of the current attempt. Its results contain them too, but the attempt may be discarded before they are taken. */
  #addedRules: PermissionLists[] = []

  constructor(options: Pick<QueryOptions, 'tools' | 'context' | 'canUseTool' | 'executor'>) {
    this.#options = options
    this.tools = new PresentTools(options.tools)
    this.context = createToolUseContext(options.context)
    this.#before = this.context
    this.#canUseTool = options.canUseTool && observeRules(options.canUseTool, (lists) => this.#hearRules(lists))
  }

  /** The context with the rules of the current attempt. */
  get contextNow(): ToolUseContext {
    if (this.#addedRules.length === 0) return this.context
    return { ...this.context, permissions: this.#addedRules.reduce(withRules, this.context.permissions) }
  }

  newExecutor(inner: ExecutorInner): StreamingToolExecutor {
    this.context = this.contextNow
    this.#before = this.context
    const tools = this.tools.look((present) => assertPermissions(this.context, present))
    return new StreamingToolExecutor(tools, this.#canUseTool, this.context, this.#options.executor, inner)
  }

  /** The attempt is discarded: what its calls changed goes with them, and only rules stay. */
  revert(): void {
    this.context = this.#before
  }

  /** The attempt is over, and the context contains its changes. */
  clearAddedRules(): void {
    this.#addedRules = []
  }

  #hearRules(lists: PermissionLists): void {
    this.#addedRules.push(lists)
    propagateRules(this.#options.canUseTool, lists)
  }
}
