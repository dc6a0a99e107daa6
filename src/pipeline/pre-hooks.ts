import type { PermissionVerdict } from '../../machines/index.ts'
import { describeError } from '../base/describe-error.ts'
import type { ReadyHook } from '../hooks/hook-registry.ts'
import { resultTexts } from '../results/result-texts.ts'
import type { AnyTool } from '../tool/tool.ts'
import { namesOf } from '../tool/tool-box.ts'
import { type ChangeStep, changeInput, mergeInput } from './change-input.ts'
import { hookInput, ownInput } from './hook-input.ts'
import { type HookOutcome, HookRuns } from './run-hooks.ts'
import type { ToolCall } from './tool-call.ts'

/** The combined decision of the hooks before a call. */
export interface HookVerdict {
  readonly permission: PermissionVerdict
  readonly hookName: string
  /** The message for the model if they deny. */
  readonly message: string
}

const strictest: readonly PermissionVerdict[] = ['deny', 'defer', 'ask', 'allow']

/** The `preHooks` phase: hooks may deny, defer, ask, allow, change the input, or end the query. */
export function runPreHooks(call: ToolCall): void {
  const { tool } = call
  if (tool === undefined || !call.isIn('preHooks')) return
  const hooks = readyHooks(call, tool)
  if ('problem' in hooks) return refuse(call, hooks.problem)
  call.hookRuns = new HookRuns(call, 'PreToolUse', hooks, (outcomes) => takeWords(call, tool, outcomes))
  call.hookRuns.start(() => hookInput(call, 'PreToolUse', {}))
}

/** A context modifier may have stored invalid hooks; then the call is denied, because they could have denied it. */
function readyHooks(call: ToolCall, tool: AnyTool): readonly ReadyHook[] | { problem: string } {
  try {
    return call.executor.policy.hooks(call.context.hooks, 'PreToolUse', namesOf(tool))
  } catch (error) {
    return { problem: describeError(error) }
  }
}

function refuse(call: ToolCall, problem: string): void {
  call.hookVerdict = { permission: 'deny', hookName: 'hooks', message: resultTexts.hookFailed('hooks', problem) }
  call.tell({ type: 'preHooks.finished', change: undefined })
}

function takeWords(call: ToolCall, tool: AnyTool, outcomes: readonly HookOutcome[]): void {
  call.hookRuns = undefined
  if (!call.isIn('preHooks')) return
  for (const outcome of outcomes) call.trail.addHook('PreToolUse', outcome, call.id)
  const steps = changesOf(call, outcomes)
  call.hookVerdict = strictestOf(outcomes.flatMap(verdictsOf))
  if (call.hookVerdict !== undefined) {
    const { permission, hookName, message } = call.hookVerdict
    call.trail.attach({ type: 'hook_permission_decision', decision: permission, content: message, hookName })
  }
  const last = steps.at(-1)
  if (call.hookVerdict?.permission === 'deny' || last === undefined) {
    return call.tell({ type: 'preHooks.finished', change: undefined })
  }
  changeInput(call, tool, { phase: 'preHooks', updatedInput: last.input, steps }, (change) =>
    call.tell({ type: 'preHooks.finished', change }),
  )
}

function strictestOf(verdicts: readonly HookVerdict[]): HookVerdict | undefined {
  if (verdicts.length < 2) return verdicts[0]
  return strictest.flatMap((wanted) => verdicts.find(({ permission }) => permission === wanted) ?? [])[0]
}

/** A failed hook denies, unless it was registered to fail open; so does a hook that ends the query. */
function verdictsOf(outcome: HookOutcome): HookVerdict[] {
  const hookName = outcome.hook.name
  if (outcome.status === 'cancelled') return []
  if (outcome.status === 'failed') {
    if (outcome.hook.failsOpen) return []
    return [{ permission: 'deny', hookName, message: resultTexts.hookFailed(hookName, outcome.problem) }]
  }
  const { permission, reason, stops } = outcome.word
  const verdicts: HookVerdict[] = []
  if (stops !== undefined) {
    verdicts.push({ permission: 'deny', hookName, message: resultTexts.hookStopped(stops.reason) })
  }
  if (permission !== undefined) {
    verdicts.push({ permission, hookName, message: reason ?? resultTexts.hookSaid(permission, hookName) })
  }
  return verdicts
}

/** The input after each change by a hook, in the order of registration. */
function changesOf(call: ToolCall, outcomes: readonly HookOutcome[]): ChangeStep[] {
  const changes = outcomes.flatMap((outcome) =>
    outcome.status === 'said' && outcome.word.updatedInput !== undefined
      ? [{ by: outcome.hook.name, updatedInput: outcome.word.updatedInput }]
      : [],
  )
  if (changes.length === 0) return []
  const original = ownInput(call)
  let input = original
  return changes.map(({ by, updatedInput }) => {
    input = mergeInput(input, original, updatedInput)
    return { by, input }
  })
}
