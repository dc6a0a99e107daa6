import {
  type Decision,
  type DecisionSource,
  decidePermission,
  denial,
  type PermissionBehavior,
  type PermissionFacts,
} from '../../machines/index.ts'
import { describeError } from '../base/describe-error.ts'
import { whenSettled } from '../base/when-settled.ts'
import type { Records } from '../journal/records.ts'
import { namesTool, type PermissionRule } from '../permission/permission-rule.ts'
import { withRules } from '../permission/permission-settings.ts'
import { type ResultText, resultTexts } from '../results/result-texts.ts'
import type { AnyTool } from '../tool/tool.ts'
import { ruleNamesOf } from '../tool/tool-box.ts'
import type { ToolCallContext } from '../tool/tool-use-context.ts'
import { denyCall, recordDecision } from './call-permit.ts'
import { recordAnswer } from './call-records.ts'
import { isReadOnly } from './classify-call.ts'
import { readToolCheck } from './read-tool-check.ts'
import type { ToolCall } from './tool-call.ts'

/** The facts, with the messages of their sources. */
interface Case {
  readonly facts: PermissionFacts
  readonly messages: { readonly [By in 'hook' | 'tool' | 'rule']?: string | undefined }
  /** A rule that would prevent the question. */
  readonly rule?: string | undefined
}

/** The first half of the `permission` phase: hooks, rules, tool and mode, before the host is asked. */
export function decide(call: ToolCall): void {
  const { tool, reading } = call
  if (tool === undefined || reading.status !== 'valid' || !call.isIn('permission')) return
  // the call was allowed before it was queued again
  if (call.decision?.behavior === 'allow') {
    return uphold(call, tool, call.context.permissions !== call.permit.settings, () =>
      call.tell({ type: 'permission.allowed', change: undefined }),
    )
  }
  const asked = call.past?.asked
  whenSettled(
    () => caseOf(call, tool, reading.input),
    ({ facts, messages, rule }) => {
      if (!call.isIn('permission')) return
      call.permit.rule = asked === undefined ? rule : asked.shown.rule
      if (asked !== undefined && !hasNewDenyRules(call)) return askAgain(call, asked, denial(facts), messages)
      // a deny rule was added meanwhile
      if (hasNewDenyRules(call)) decide(call)
      else follow(call, decidePermission(facts), messages)
    },
    (error) => denyCall(call, resultTexts.askingFailed(describeError(error)), { by: 'tool' }),
  )
}

function follow(call: ToolCall, decision: Decision, messages: Case['messages']): void {
  recordDecision(call, decision)
  if (decision.behavior === 'allow') call.tell({ type: 'permission.allowed', change: undefined })
  else if (decision.behavior === 'deny') denyCall(call, denialText(call, decision.source, messages), decision.source)
  else {
    const { by } = decision.source
    if (by === 'loop') call.permit.message = resultTexts.repeats(decision.source.repeats)
    else call.permit.message = by === 'hook' || by === 'tool' ? messages[by] : undefined
    call.tell({ type: decision.behavior === 'defer' ? 'permission.deferred' : 'permission.undecided' })
  }
}

/** The question is already recorded: only checks that no answer can override are repeated. */
function askAgain(
  call: ToolCall,
  { shown, verdict }: Records['permission.asked'],
  denied: Decision | undefined,
  messages: Case['messages'],
): void {
  if (denied !== undefined) return follow(call, denied, messages)
  const isDeferred = verdict?.permission === 'defer' && call.past?.answer === undefined
  recordDecision(call, { behavior: isDeferred ? 'defer' : 'ask', source: shown.because })
  call.permit.message = shown.message
  call.tell({ type: isDeferred ? 'permission.deferred' : 'permission.undecided' })
}

/** Deny rules were added since this call was last checked. */
export const hasNewDenyRules = ({ executor, permit }: ToolCall): boolean =>
  executor.addedRules.deny.length > permit.denyRulesSeen

/** Continues with an allowed call, unless a deny rule or the mode now forbids it. */
export function uphold(call: ToolCall, tool: AnyTool, isNews: boolean, goOn: () => void): void {
  const { reading } = call
  if (!call.isIn('permission')) return
  if (!isNews || reading.status !== 'valid') return goOn()
  whenSettled(
    () => caseOf(call, tool, reading.input),
    ({ facts, messages }) => {
      const denied = denial(facts)
      if (denied === undefined) uphold(call, tool, hasNewDenyRules(call), goOn)
      else denyCall(call, denialText(call, denied.source, messages), denied.source)
    },
    (error) => denyCall(call, resultTexts.askingFailed(describeError(error)), { by: 'tool' }),
  )
}

/** Called when a rule was added: if it allows a call with an open question, the question is closed. */
export function settleByRules(call: ToolCall): void {
  const { tool, reading, permit } = call
  if (tool === undefined || reading.status !== 'valid' || !call.isAsking) return
  const { denyRulesSeen } = permit
  whenSettled(
    () => caseOf(call, tool, reading.input),
    ({ facts }) => {
      const decision = decidePermission(facts)
      if (decision.behavior !== 'allow' || !call.isAsking) {
        // an answer must still be checked against new deny rules
        permit.denyRulesSeen = denyRulesSeen
        return
      }
      recordAnswer(call, { behavior: 'allow' }, { by: 'rule' })
      permit.isAsking = false
      recordDecision(call, decision)
      call.tell({ type: 'permission.allowed', change: undefined })
    },
    () => undefined,
  )
}

/** Collects the facts, and stops when further facts cannot change the decision: at once, unless the tool has a say. */
function caseOf(call: ToolCall, tool: AnyTool, input: Record<string, unknown>): Case | Promise<Case> {
  const { mode, rules } = call.executor.policy.permissions(call.context.permissions)
  const added = call.executor.addedRules
  call.permit.denyRulesSeen = added.deny.length
  const hook = call.hookVerdict
  const { canUseTool, allowsEverything } = call.executor
  const known = {
    mode,
    hook: hook?.permission,
    isReadOnly: isReadOnly(tool, input),
    editsWorkspace: false,
    ...(call.repeats !== undefined && {
      repeats: call.repeats,
      hasNobody: canUseTool === undefined || allowsEverything,
    }),
  }
  const messages = { hook: hook?.message }
  if (hook?.permission === 'deny') return { facts: known, messages }
  const names = ruleNamesOf(tool)
  const naming = (behavior: PermissionBehavior): PermissionRule[] =>
    [...rules[behavior], ...added[behavior]].filter((rule) => namesTool(rule, names))
  const lists = { deny: naming('deny'), ask: naming('ask'), allow: naming('allow') }
  const hasSay = tool.checkPermissions !== undefined || tool.exactRule !== undefined
  const asksTool = hasSay || mode === 'acceptEdits' || Object.values(lists).some(hasSpec)
  if (asksTool) return askTool(call, tool, input, { facts: known, messages }, lists)
  const [deny, ask, allow] = [lists.deny[0], lists.ask[0], lists.allow[0]]
  if (deny !== undefined) return deniedBy(deny, { facts: known, messages })
  const facts = { ...known, askRule: ask?.text, allowRule: allow?.text }
  return { facts, messages, rule: tool.matchesRule === undefined && isAskedByMode(facts) ? tool.name : undefined }
}

/** Only then would a rule prevent the question. */
function isAskedByMode(facts: PermissionFacts): boolean {
  const { behavior, source } = decidePermission(facts)
  return behavior === 'ask' && source.by === 'mode'
}

type RuleLists = Readonly<Record<PermissionBehavior, readonly PermissionRule[]>>

const hasSpec = (rules: readonly PermissionRule[]): boolean => rules.some(({ spec }) => spec !== undefined)

const deniedBy = ({ text, message }: PermissionRule, { facts, messages }: Case): Case => ({
  facts: { ...facts, denyRule: text },
  messages: { ...messages, rule: message },
})

/** The tool checks the call itself, reads the specifiers of rules, or says what it edits. */
async function askTool(
  call: ToolCall,
  tool: AnyTool,
  input: Record<string, unknown>,
  known: Case,
  lists: RuleLists,
): Promise<Case> {
  const context = withAddedRules(call)
  const first = (behavior: PermissionBehavior) => firstMatch(call, tool, input, context, behavior, lists[behavior])
  const deny = await first('deny')
  if (deny !== undefined) return deniedBy(deny, known)
  const own = await readToolCheck(tool, input, context)
  const facts: PermissionFacts = {
    ...known.facts,
    tool: own?.behavior,
    askRule: (await first('ask'))?.text,
    allowRule: (await first('allow'))?.text,
    editsWorkspace: known.facts.mode === 'acceptEdits' && (await editsWorkspace(call, tool, input)),
  }
  const rule = isAskedByMode(facts) ? await ruleFor(call, tool, input, context) : undefined
  return { facts, messages: { ...known.messages, tool: own?.message }, rule }
}

/** The rule of the whole tool, or one for exactly this call, if the tool agrees that it matches. */
async function ruleFor(
  call: ToolCall,
  tool: AnyTool,
  input: Record<string, unknown>,
  context: ToolCallContext,
): Promise<string | undefined> {
  if (tool.matchesRule === undefined) return tool.name
  try {
    const spec: unknown = tool.exactRule?.(input)
    if (typeof spec !== 'string' || spec === '') return undefined
    const rule = `${tool.name}(${spec})`
    const withRule = { ...context, permissions: withRules(context.permissions, { allow: [rule] }) }
    return (await matchesSpec(call, tool, input, withRule, 'allow', spec)) ? rule : undefined
  } catch (error) {
    call.executor.warn(call, 'rule_check_failed', 'its exactRule failed', error)
    return undefined
  }
}

/** The added rules may cover a call only together, so a tool sees all of them. */
function withAddedRules({ context, executor: { addedRules: added } }: ToolCall): ToolCallContext {
  if (added.deny.length + added.ask.length + added.allow.length === 0) return context
  const texts = (rules: readonly PermissionRule[]): string[] => rules.map(({ text }) => text)
  const lists = { deny: texts(added.deny), ask: texts(added.ask), allow: texts(added.allow) }
  return { ...context, permissions: withRules(context.permissions, lists) }
}

/** A function that throws counts as no. */
async function editsWorkspace(call: ToolCall, tool: AnyTool, input: Record<string, unknown>): Promise<boolean> {
  try {
    return (await tool.editsWorkspace?.(input, call.context)) === true
  } catch {
    return false
  }
}

async function firstMatch(
  call: ToolCall,
  tool: AnyTool,
  input: Record<string, unknown>,
  context: ToolCallContext,
  behavior: PermissionBehavior,
  rules: readonly PermissionRule[],
): Promise<PermissionRule | undefined> {
  for (const rule of rules) {
    if (await matchesSpec(call, tool, input, context, behavior, rule.spec)) return rule
  }
  return undefined
}

/** The tool matches the specifier of a rule. If that fails, the stricter reading applies. */
async function matchesSpec(
  call: ToolCall,
  tool: AnyTool,
  input: Record<string, unknown>,
  context: ToolCallContext,
  behavior: PermissionBehavior,
  spec: string | undefined,
): Promise<boolean> {
  if (spec === undefined) return true
  const whenUnclear = behavior !== 'allow'
  try {
    const matches: unknown = await tool.matchesRule?.(spec, input, context, behavior)
    return typeof matches === 'boolean' ? matches : whenUnclear
  } catch (error) {
    call.executor.warn(call, 'rule_check_failed', `its matchesRule failed at ${JSON.stringify(spec)}`, error)
    return whenUnclear
  }
}

function denialText(call: ToolCall, source: DecisionSource, messages: Case['messages']): ResultText {
  const name = call.tool?.name ?? call.name
  if (source.by === 'rule' && messages.rule === undefined) return resultTexts.deniedByRule(name, source.rule)
  if (source.by === 'mode') return resultTexts.deniedByMode(name, source.mode)
  if (source.by === 'loop') return resultTexts.deniedByLoop(name, source.repeats)
  const message = source.by === 'host' ? undefined : messages[source.by]
  return message === undefined ? resultTexts.denialWithoutMessage() : resultTexts.denied(message)
}
