import type { AnyTool, PermissionQuestion, ToolCallContext } from 'signalbox'

export type AlwaysRule =
  | { readonly rules: readonly string[] }
  /** Why no rule would prevent the next prompt. */
  | { readonly because: string }

/** The rule that allows exactly this call from now on, verified with the tool itself. */
export async function alwaysRule(
  tool: AnyTool,
  input: Record<string, unknown>,
  context: ToolCallContext,
  question: PermissionQuestion | undefined,
): Promise<AlwaysRule> {
  const by = question?.because.by
  if (by === 'rule') return { because: 'a rule asks each time' }
  if (by === 'loop') return { because: 'the call repeats itself' }
  if (by === 'tool' || by === 'hook') return { because: 'this call always needs an answer' }
  const spec = specOf(tool, input)
  const rules = spec === undefined ? [] : [`${tool.name}(${spec})`]
  if (rules.length > 0 && (await covers(tool, input, context, rules))) return { rules }
  if (tool.matchesRule === undefined) return { rules: [tool.name] }
  return { because: tool.name === 'Bash' ? 'no rule can match this command' : 'no rule can match this call' }
}

/** Whether rules of this tool allow a call, evaluated by the tool with all of them in force. */
export async function covers(
  tool: AnyTool,
  input: Record<string, unknown>,
  context: ToolCallContext,
  rules: readonly string[],
): Promise<boolean> {
  const { permissions } = context
  const withRules = { ...context, permissions: { ...permissions, allow: [...(permissions?.allow ?? []), ...rules] } }
  for (const rule of rules) {
    if (rule === tool.name) return true
    if (!rule.startsWith(`${tool.name}(`)) continue
    try {
      const spec = rule.slice(tool.name.length + 1, -1)
      if ((await tool.matchesRule?.(spec, input, withRules, 'allow')) === true) return true
    } catch {
      // a tool that throws does not allow
    }
  }
  return false
}

/** A tool that throws offers no rule. */
function specOf(tool: AnyTool, input: Record<string, unknown>): string | undefined {
  try {
    return tool.exactRule?.(input)
  } catch {
    return undefined
  }
}
