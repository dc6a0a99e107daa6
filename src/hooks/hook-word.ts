import type { Opinion } from '../../machines/index.ts'
import { describeValue } from '../text/describe-value.ts'
import type { HookEvent, HookOutput } from './hook.ts'

/** What a hook said, read once and checked. */
export interface HookWord {
  readonly permission?: Opinion
  readonly reason?: string
  readonly updatedInput?: Record<string, unknown>
  readonly additionalContext?: string
  readonly systemMessage?: string
  /** The query ends after this turn. */
  readonly stops?: { readonly reason: string | undefined }
  /** Takes the place of what the tool returned. */
  readonly output?: { readonly data: unknown; readonly isForMcpOnly: boolean }
}

export type HookReading =
  | { readonly ok: true; readonly word: HookWord }
  | { readonly ok: false; readonly problem: string }

/** Reads what a hook returned. It may be anything, and reading it may throw. */
export function readHookOutput(output: unknown, event: HookEvent): HookReading {
  // a hook that only looks on often returns nothing
  if (output === undefined) return silent
  if (typeof output !== 'object' || output === null) return nonsense('what it returned', 'an object', output)
  const given = output as HookOutput
  if (given.async === true) return silent
  return firstProblem(given, event) ?? { ok: true, word: wordOf(given, event) }
}

const silent: HookReading = { ok: true, word: {} }

const opinions: Record<string, Opinion | undefined> = {
  allow: 'allow',
  ask: 'ask',
  deny: 'deny',
  defer: undefined,
  approve: 'allow',
  block: 'deny',
}

function firstProblem(given: HookOutput, event: HookEvent): HookReading | undefined {
  const specific: unknown = given.hookSpecificOutput
  if (specific !== undefined && (typeof specific !== 'object' || specific === null)) {
    return nonsense('hookSpecificOutput', 'an object', specific)
  }
  const { hookEventName, permissionDecision, updatedInput } = given.hookSpecificOutput ?? {}
  if (hookEventName !== undefined && hookEventName !== event) {
    return nonsense('hookSpecificOutput.hookEventName', `'${event}'`, hookEventName)
  }
  for (const decision of [permissionDecision, given.decision]) {
    if (decision !== undefined && !Object.hasOwn(opinions, decision)) {
      return nonsense('its decision', 'allow, deny, ask or defer', decision)
    }
  }
  if (updatedInput !== undefined && !isRecord(updatedInput)) return nonsense('updatedInput', 'an object', updatedInput)
  return undefined
}

function wordOf(given: HookOutput, event: HookEvent): HookWord {
  const specific: Partial<NonNullable<HookOutput['hookSpecificOutput']>> = given.hookSpecificOutput ?? {}
  const decision = specific.permissionDecision ?? given.decision
  const permission = decision === undefined ? undefined : opinions[decision]
  const reason = textOf(specific.permissionDecisionReason) ?? textOf(given.reason)
  const additionalContext = textOf(specific.additionalContext)
  const systemMessage = textOf(given.systemMessage)
  return {
    ...(permission !== undefined && { permission }),
    ...(reason !== undefined && { reason }),
    ...(event === 'PreToolUse' && specific.updatedInput !== undefined && { updatedInput: specific.updatedInput }),
    ...(additionalContext !== undefined && { additionalContext }),
    ...(systemMessage !== undefined && { systemMessage }),
    ...(given.continue === false && { stops: { reason: textOf(given.stopReason) } }),
    ...(event === 'PostToolUse' && outputOf(specific)),
  }
}

function outputOf(specific: Record<string, unknown>): Pick<HookWord, 'output'> {
  const { updatedToolOutput, updatedMCPToolOutput } = specific
  if (updatedToolOutput !== undefined) return { output: { data: updatedToolOutput, isForMcpOnly: false } }
  if (updatedMCPToolOutput !== undefined) return { output: { data: updatedMCPToolOutput, isForMcpOnly: true } }
  return {}
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

const nonsense = (what: string, expected: string, came: unknown): HookReading => ({
  ok: false,
  problem: `${what} must be ${expected}, but was ${describeValue(came, 80)}`,
})
