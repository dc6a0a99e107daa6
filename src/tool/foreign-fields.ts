import { readField } from '../base/read-field.ts'
import type { AnyTool } from './tool.ts'

/** Fields of tools elsewhere, and what they are called here. */
const names = Object.entries({
  mapToolResultToToolResultBlockParam: 'mapResult(data, toolUseID)',
  renderResultForAssistant: 'mapResult(data, toolUseID)',
  needsPermissions: "checkPermissions(input, context), which returns { behavior: 'allow' | 'ask' | 'deny' }",
})

/** Warnings for a tool that was written for another engine. */
export function foreignFieldsOf(tool: AnyTool): string[] {
  const problems: string[] = []
  for (const [field, name] of names) {
    if (readField(tool, field) !== undefined) problems.push(`${field} is not read here. Its name here is ${name}.`)
  }
  if (tool.name === 'Bash' && readField(tool, 'cancelsSiblingsOnError') === undefined) {
    problems.push('a failing command does not cancel other calls. To cancel them, set cancelsSiblingsOnError.')
  }
  return problems
}
