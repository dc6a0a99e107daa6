import { readField } from '../base/read-field.ts'
import type { AnyTool } from './tool.ts'

/** Fields of other tool formats, and their names in Signalbox. */
const names = {
  mapToolResultToToolResultBlockParam: 'mapResult(data, toolUseID)',
  renderResultForAssistant: 'mapResult(data, toolUseID)',
  needsPermissions: "checkPermissions(input, context), which returns { behavior: 'allow' | 'ask' | 'deny' }",
} as const

/** Warnings for a tool that was written for another engine. */
export function foreignFieldsOf(tool: AnyTool): string[] {
  const problems = Object.entries(names).flatMap(([field, name]) =>
    readField(tool, field) === undefined ? [] : [`Signalbox ignores ${field}. Use ${name}.`],
  )
  if (tool.name === 'Bash' && readField(tool, 'cancelsSiblingsOnError') === undefined) {
    problems.push('a failing command does not cancel other calls. To cancel them, set cancelsSiblingsOnError.')
  }
  return problems
}
