import type { CanUseTool, PermissionAnswer } from '../../index.ts'
import { alwaysRule } from './always-rule.ts'

/** The answer where nobody can be asked: no, with what would have made it a yes; in a show, yes. */
export async function unattended(
  [tool, input, context, , , question]: Parameters<CanUseTool>,
  { yesAfterMs }: { readonly yesAfterMs?: number | undefined },
  say: (by: 'host', text: string) => void,
): Promise<PermissionAnswer> {
  const always = await alwaysRule(tool, input, context, question)
  const rules = 'rules' in always ? always.rules : []
  if (yesAfterMs !== undefined) {
    say('host', `${tool.name} asked for permission. There is no terminal to answer at, so this show says yes.`)
    return { behavior: 'allow' }
  }
  const way = rules.length > 0 ? ` Allow it with ${rules.map((rule) => `--allow '${rule}'`).join(' ')}.` : ''
  say('host', `${tool.name} was denied: without a terminal nobody can be asked.${way}`)
  return { behavior: 'deny', message: `Nobody is here to allow this use of ${tool.name}. Go on without it.` }
}
