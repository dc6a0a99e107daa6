import { readField } from '../base/read-field.ts'
import type { AnyTool } from './tool.ts'

/** Fields of tools elsewhere, and what they are called here. */
const names = {
  mapToolResultToToolResultBlockParam: 'mapResult(data, toolUseID)',
  renderResultForAssistant: 'mapResult(data, toolUseID)',
  needsPermissions: "checkPermissions(input, context), which returns { behavior: 'allow' | 'ask' | 'deny' }",
} as const

/** What the author of a tool that was written for another engine has to know. */
export function foreignFieldsOf(tool: AnyTool): string[] {
  const problems = Object.entries(names).flatMap(([field, name]) =>
    readField(tool, field) === undefined ? [] : [`${field} is not read here. Its name here is ${name}.`],
  )
  if (tool.name === 'Bash' && readField(tool, 'cancelsSiblingsOnError') === undefined) {
    problems.push('a failing command cancels no other call here, unless the tool sets cancelsSiblingsOnError.')
  }
  return problems
}
