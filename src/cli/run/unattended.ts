import type { CanUseTool, PermissionAnswer } from '../../index.ts'
import { alwaysRule } from './always-rule.ts'

/** The answer where nobody can be asked: no, with what would have made it a yes; in a show, yes. */
export async function unattended(
  [tool, input, context, , id, question]: Parameters<CanUseTool>,
  { yesAfterMs }: { readonly yesAfterMs?: number | undefined },
  nameOf: (id: string) => string | undefined,
  note: (text: string) => void,
): Promise<PermissionAnswer> {
  const always = await alwaysRule(tool, input, context, question)
  const name = nameOf(id) ?? tool.name
  const rules = 'rules' in always ? always.rules : []
  if (yesAfterMs !== undefined) {
    note(`${name} asked for permission. There is no terminal to answer at, so this show says yes.`)
    await new Promise(setImmediate)
    return { behavior: 'allow' }
  }
  const way = rules.length > 0 ? ` Allow it with ${rules.map((rule) => `--allow '${rule}'`).join(' ')}.` : ''
  note(`${name} was denied: without a terminal nobody can be asked.${way}`)
  // it is seen before what comes of it
  await new Promise(setImmediate)
  return { behavior: 'deny', message: `Nobody is here to allow this use of ${tool.name}. Go on without it.` }
}
