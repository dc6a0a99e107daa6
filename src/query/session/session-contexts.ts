import { type AbortSource, abortSourceOf } from '../../base/abort-source.ts'
import { type PermissionLists, withRules } from '../../permission/permission-settings.ts'
import { checkRules } from '../../tool/check-rules.ts'
import { SharedLocks } from '../../tool/locks.ts'
import type { AnyTool } from '../../tool/tool.ts'
import type { ToolUseContext } from '../../tool/tool-use-context.ts'
import type { SessionJournal } from './session-journal.ts'
import type { SessionOptions } from './session-options.ts'

interface HeldContext {
  /** The position in the session's messages from which it holds. */
  readonly from: number
  readonly context: ToolUseContext
}

/** The contexts of a session, past ones too, for forks. Runs have controllers of their own; the host's is kept here. */
export class SessionContexts {
  readonly host: AbortSource
  readonly #hostController: AbortController
  readonly #held: HeldContext[]
  readonly #journal: SessionJournal | undefined
  readonly #tools: SessionOptions['tools']

  constructor(
    given: ToolUseContext,
    journal: SessionJournal | undefined,
    { id, tools }: { readonly id: string; readonly tools: SessionOptions['tools'] },
  ) {
    this.#hostController = given.abortController
    this.host = abortSourceOf(given.abortController)
    const { locks } = given
    // other sessions see who holds a key
    const context = locks instanceof SharedLocks ? { ...given, locks: locks.inSession(id) } : given
    this.#held = [{ from: 0, context }]
    this.#journal = journal
    this.#tools = tools
  }

  /** Answers may come while nothing runs, and their rules hold. */
  get last(): ToolUseContext {
    const { context } = this.#held.at(-1) as HeldContext
    return this.#journal === undefined ? context : restored(context, this.#journal, this.#tools)
  }

  keep(context: ToolUseContext, from: number): void {
    if (this.#held.at(-1)?.context !== context) this.#held.push({ from, context })
  }

  /** The context that held at a position, for the host. */
  at(position: number): ToolUseContext {
    const { context } = this.#held.findLast(({ from }) => from <= position) as HeldContext
    return this.forHost(context)
  }

  forHost(context: ToolUseContext): ToolUseContext {
    return { ...context, abortController: this.#hostController }
  }
}

function restored(
  given: ToolUseContext,
  { rules, context }: SessionJournal,
  tools: SessionOptions['tools'],
): ToolUseContext {
  const hasRules = Object.values(rules).some((list) => (list?.length ?? 0) > 0)
  const permissions = () => withRules(given.permissions, usable(rules, presentIn(tools)))
  return { ...given, ...context, ...(hasRules && { permissions: permissions() }) }
}

/** Answers outlive a deploy: a tool of today may not know what an earlier one allowed. Then the person is asked again. */
const usable = (rules: PermissionLists, tools: readonly AnyTool[]): PermissionLists => ({
  ...rules,
  allow: rules.allow?.filter(
    (rule) => !checkRules({ allow: [rule] }, tools).some(({ severity }) => severity === 'error'),
  ),
})

/** The run itself reports a function that throws. */
function presentIn(tools: SessionOptions['tools']): readonly AnyTool[] {
  try {
    return typeof tools === 'function' ? tools() : tools
  } catch {
    return []
  }
}
