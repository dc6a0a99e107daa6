import type { AnyTool, PermissionQuestion, ToolCallContext } from '../../index.ts'

export type AlwaysRule =
  | { readonly rules: readonly string[] }
  /** Why no rule would spare the next question. */
  | { readonly because: string }

/** The rules that would allow this very call from here on, tried on the tool itself. */
export async function alwaysRule(
  tool: AnyTool,
  input: Record<string, unknown>,
  context: ToolCallContext,
  question: PermissionQuestion | undefined,
): Promise<AlwaysRule> {
  const by = question?.because.by
  if (by === 'rule') return { because: 'a rule wants it asked each time' }
  if (by === 'tool' || by === 'hook') return { because: 'it is asked each time' }
  for (const specs of specsOf(tool.name, input)) {
    const rules = specs.map((spec) => `${tool.name}(${spec})`)
    if (await covers(tool, input, context, rules)) return { rules }
  }
  if (tool.matchesRule === undefined) return { rules: [tool.name] }
  return { because: tool.name === 'Bash' ? 'no rule can cover such a command' : 'no rule can cover this' }
}

/** Whether rules of this tool allow a call: as the tool sees it, with all of them in force. */
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
      // a tool that cannot say has not said yes
    }
  }
  return false
}

/** What may stand in the brackets, the best first; those of one list only together. */
function specsOf(name: string, { command, file_path, url }: Record<string, unknown>): string[][] {
  if (name === 'Bash' && typeof command === 'string') {
    // a chain is covered where each of its commands is
    return [[command.trim()], [...new Set(command.trim().split(/\s*(?:&&|\|\||;|\|)\s*/))]]
  }
  if (typeof file_path === 'string') return [[file_path]]
  if (name === 'WebFetch' && typeof url === 'string' && URL.canParse(url)) return [[`domain:${new URL(url).hostname}`]]
  return []
}
