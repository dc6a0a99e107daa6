import { type CanUseTool, type PermissionAnswer, visibleLine } from 'signalbox'
import { shellWord } from '../shell-word.ts'
import { alwaysRule } from './always-rule.ts'

/** The answer without a terminal: no, with the option that would allow the call; in a demo, yes. */
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
    note(`${name} asked for permission. There is no terminal to answer, so this demo answers yes.`)
    await new Promise(setImmediate)
    return { behavior: 'allow' }
  }
  // a rule with invisible characters is not shown for copying
  const isReadable = rules.length > 0 && rules.every((rule) => visibleLine(rule) === rule)
  const way = isReadable ? ` Allow it with ${rules.map((rule) => `--allow ${shellWord(rule)}`).join(' ')}.` : ''
  note(`${name} was denied: there is no terminal to ask.${way}`)
  // shown before its consequences
  await new Promise(setImmediate)
  return { behavior: 'deny', message: `No user is available to allow this use of ${tool.name}. Continue without it.` }
}
