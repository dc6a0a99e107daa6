import type { PermissionBehavior } from '../../../machines/index.ts'
import { type AbortSource, abortSourceOf } from '../../base/abort-source.ts'
import { SignalboxError } from '../../base/signalbox-error.ts'
import { type DenyRule, parseRule } from '../../permission/permission-rule.ts'
import { type PermissionLists, withRules } from '../../permission/permission-settings.ts'
import { checkRules, type RuleProblem } from '../../tool/check-rules.ts'
import { SharedLocks } from '../../tool/locks.ts'
import type { PermissionAnswer } from '../../tool/permission.ts'
import type { AnyTool } from '../../tool/tool.ts'
import { ruleNamesOf } from '../../tool/tool-box.ts'
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

  /** The context that held at a position, for the host. `length`: that of the conversation, if an earlier process had it. */
  at(position: number, length?: number): ToolUseContext {
    if (this.#journal !== undefined && length !== undefined) {
      const [{ context }] = this.#held as [HeldContext]
      return this.forHost(restored(context, this.#journal.stateAt(length), this.#tools))
    }
    const { context } = this.#held.findLast(({ from }) => from <= position) as HeldContext
    return this.forHost(context)
  }

  forHost(context: ToolUseContext): ToolUseContext {
    return { ...context, abortController: this.#hostController }
  }
}

function restored(
  given: ToolUseContext,
  { rules, context }: Pick<SessionJournal, 'rules' | 'context'>,
  tools: SessionOptions['tools'],
): ToolUseContext {
  const hasRules = Object.values(rules).some((list) => (list?.length ?? 0) > 0)
  const permissions = () => withRules(given.permissions, usable(rules, presentIn(tools)))
  return { ...given, ...context, ...(hasRules && { permissions: permissions() }) }
}

/** Refuses an answer whose rules cannot be used: they would be recorded for good. */
export function checkAddedRules({ addRules }: PermissionAnswer, tools: SessionOptions['tools']): void {
  if (addRules === undefined) return
  const problem = checkRules(addRules, presentIn(tools)).find(isError)
  if (problem === undefined) return
  throw new SignalboxError('invalid_option', `answer.addRules.${problem.behavior}: ${problem.message}`)
}

/**
 * Answers outlive a deploy: a tool of today may not know what an earlier one allowed or forbade. Then the person is asked.
 * Nobody can remove a rule from the log, so one that cannot be used must not end every run.
 */
function usable(rules: PermissionLists, tools: readonly AnyTool[]): PermissionLists {
  const broken = checkRules(rules, tools).filter(isError)
  if (broken.length === 0) return rules
  const worksIn = (list: PermissionBehavior) => (rule: string | DenyRule) =>
    !broken.some((each) => each.behavior === list && each.rule === (typeof rule === 'string' ? rule : rule.rule))
  const asked = broken.filter(({ behavior }) => behavior !== 'allow').flatMap(({ rule }) => toolsLike(rule, tools))
  return {
    allow: rules.allow?.filter(worksIn('allow')),
    ask: [...(rules.ask ?? []).filter(worksIn('ask')), ...asked],
    deny: rules.deny?.filter(worksIn('deny')),
  }
}

const isError = ({ severity }: RuleProblem): boolean => severity === 'error'

/** The names of the tools that a rule may mean, in whatever letter case. */
function toolsLike(rule: string, tools: readonly AnyTool[]): string[] {
  const meant = parseRule(rule).toolName.toLowerCase()
  return tools.filter((tool) => ruleNamesOf(tool).some((name) => name.toLowerCase() === meant)).map(({ name }) => name)
}

/** The run itself reports a function that throws. */
function presentIn(tools: SessionOptions['tools']): readonly AnyTool[] {
  try {
    return typeof tools === 'function' ? tools() : tools
  } catch {
    return []
  }
}
