import type { PermissionVerdict } from '../../machines/index.ts'
import { describeValue } from '../base/describe-value.ts'
import { isRecord } from '../base/read-field.ts'
import type { HookEvent, HookOutput } from './hook.ts'

/** The parsed and checked reply of a hook. */
export interface HookReply {
  readonly permission?: PermissionVerdict
  readonly reason?: string
  readonly updatedInput?: Record<string, unknown>
  readonly additionalContext?: string
  readonly systemMessage?: string
  /** Ends the query after this turn. */
  readonly stops?: { readonly reason: string | undefined }
  /** Replaces the tool's output. */
  readonly output?: { readonly data: unknown; readonly isForMcpOnly: boolean }
}

export type HookReading =
  | { readonly ok: true; readonly word: HookReply }
  | { readonly ok: false; readonly problem: string }

/** Parses a hook's return value. Each field is read once, because it may be a getter that throws. */
export function readHookOutput(output: unknown, event: HookEvent): HookReading {
  // a hook that only observes often returns nothing
  if (output === undefined) return silent
  if (!isRecord(output) || output instanceof Error) return nonsense('its return value', 'an object', output)
  const given: HookOutput = { ...output }
  if (given.async === true) return silent
  const { hookSpecificOutput: specific = {} } = given as { hookSpecificOutput?: unknown }
  if (!isRecord(specific)) return nonsense('hookSpecificOutput', 'an object', specific)
  const details: Details = { ...specific }
  return firstProblem(given, details, event) ?? { ok: true, word: wordOf(given, details, event) }
}

type Details = Partial<NonNullable<HookOutput['hookSpecificOutput']>>

const silent: HookReading = { ok: true, word: {} }

const verdicts: Record<string, PermissionVerdict> = {
  allow: 'allow',
  ask: 'ask',
  deny: 'deny',
  defer: 'defer',
  approve: 'allow',
  block: 'deny',
}

function firstProblem(given: HookOutput, details: Details, event: HookEvent): HookReading | undefined {
  const { hookEventName, permissionDecision, updatedInput } = details
  if (hookEventName !== undefined && hookEventName !== event) {
    return nonsense('hookSpecificOutput.hookEventName', `'${event}'`, hookEventName)
  }
  for (const decision of [permissionDecision, given.decision]) {
    if (decision !== undefined && !Object.hasOwn(verdicts, decision)) {
      return nonsense('its decision', 'allow, deny, ask or defer', decision)
    }
  }
  // after a call there is nothing left to prevent, and a hook that replaced the output must not fail
  if (event === 'PreToolUse' && given.continue !== undefined && typeof given.continue !== 'boolean') {
    return nonsense('continue', 'true or false', given.continue)
  }
  if (updatedInput !== undefined && !isRecord(updatedInput)) return nonsense('updatedInput', 'an object', updatedInput)
  return undefined
}

function wordOf(given: HookOutput, details: Details, event: HookEvent): HookReply {
  const decision = details.permissionDecision ?? given.decision
  const permission = decision === undefined ? undefined : verdicts[decision]
  const reason = textOf(details.permissionDecisionReason) ?? textOf(given.reason)
  const additionalContext = textOf(details.additionalContext)
  const systemMessage = textOf(given.systemMessage)
  return {
    ...(permission !== undefined && { permission }),
    ...(reason !== undefined && { reason }),
    ...(event === 'PreToolUse' && details.updatedInput !== undefined && { updatedInput: details.updatedInput }),
    ...(additionalContext !== undefined && { additionalContext }),
    ...(systemMessage !== undefined && { systemMessage }),
    ...(given.continue === false && { stops: { reason: textOf(given.stopReason) } }),
    ...(event === 'PostToolUse' && outputOf(details)),
  }
}

function outputOf({ updatedToolOutput, updatedMCPToolOutput }: Details): Pick<HookReply, 'output'> {
  if (updatedToolOutput !== undefined) return { output: { data: updatedToolOutput, isForMcpOnly: false } }
  if (updatedMCPToolOutput !== undefined) return { output: { data: updatedMCPToolOutput, isForMcpOnly: true } }
  return {}
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

const nonsense = (what: string, expected: string, received: unknown): HookReading => ({
  ok: false,
  problem: `${what}: expected ${expected}, received ${describeValue(received, 80)}`,
})
