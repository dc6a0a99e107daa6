import { type AnyTool, checkRules, type PermissionLists, visibleLine } from 'signalbox'
import { usageError } from '../usage-error.ts'

/** Validates rules of the command line or a settings file before anything runs: a misspelt rule protects nothing. */
export function checkGivenRules(
  { allow, ask, deny }: PermissionLists,
  tools: readonly AnyTool[],
  warn: (text: string) => void,
  /** The location of a rule, for errors. */
  whereIs: (rule: string) => string = () => '',
): void {
  for (const { rule, severity, isUnknownTool, message } of checkRules({ allow, ask, deny }, tools)) {
    // the Agent tool exists only if a model is given
    if (isUnknownTool && /^Agent\b/.test(rule)) continue
    if (severity === 'error' || isUnknownTool) throw usageError(whereIs(rule) + message)
    warn(`warning: ${whereIs(rule)}${visibleLine(message)}\n`)
  }
}
