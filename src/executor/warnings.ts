import { readField } from '../base/read-field.ts'
import type { WarningCode } from '../pipeline/executor-services.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { ExecutorEmitter } from './events.ts'

/** Emits non-fatal warnings, each with a count per call. */
export class Warnings {
  readonly #emitter: ExecutorEmitter
  /** Created when needed, because most turns have no warnings. */
  #counts: WeakMap<ToolCall, Map<WarningCode, number>> | undefined

  /** Emitted with the next call, because a new executor has no listeners yet. */
  #ofRules: string[] = []
  /** The tools whose foreign fields were reported. */
  #knownTools: Set<AnyTool> | undefined

  constructor(emitter: ExecutorEmitter) {
    this.#emitter = emitter
  }

  warn(call: ToolCall | undefined, code: WarningCode, problem: string, error?: unknown): void {
    this.#emitter.emit('warning', {
      code,
      message: call === undefined ? problem : `${call.name} (${call.id}): ${problem}`,
      ...(call !== undefined && { toolUseID: call.id, toolName: call.name }),
      count: call === undefined ? 1 : this.#count(call, code),
      ...(error !== undefined && { error }),
    })
  }

  keepForRules(messages: readonly string[]): void {
    for (const message of messages) this.#ofRules.push(message)
  }

  tellOfRules(): void {
    if (this.#ofRules.length === 0) return
    for (const message of this.#ofRules.splice(0)) this.warn(undefined, 'rule_warning', message)
  }

  /** Once per tool, when the host listens. */
  tellOfForeignFields(call: ToolCall): void {
    const { tool } = call
    if (tool === undefined || !this.#emitter.has('warning')) return
    this.#knownTools ??= new Set()
    if (this.#knownTools.has(tool)) return
    this.#knownTools.add(tool)
    for (const problem of foreignFieldsOf(tool)) this.warn(call, 'foreign_field', problem)
  }

  #count(call: ToolCall, code: WarningCode): number {
    this.#counts ??= new WeakMap()
    const counts = this.#counts.get(call) ?? new Map<WarningCode, number>()
    const count = (counts.get(code) ?? 0) + 1
    this.#counts.set(call, counts.set(code, count))
    return count
  }
}

/** Fields of tools elsewhere, and what they are called here. */
const names = Object.entries({
  mapToolResultToToolResultBlockParam: 'mapResult(data, toolUseID)',
  renderResultForAssistant: 'mapResult(data, toolUseID)',
  needsPermissions: "checkPermissions(input, context), which returns { behavior: 'allow' | 'ask' | 'deny' }",
})

/** Warnings for a tool that was written for another engine. */
function foreignFieldsOf(tool: AnyTool): string[] {
  const problems: string[] = []
  for (const [field, name] of names) {
    if (readField(tool, field) !== undefined) problems.push(`${field} is not read here. Its name here is ${name}.`)
  }
  if (tool.name === 'Bash' && readField(tool, 'cancelsSiblingsOnError') === undefined) {
    problems.push('a failing command does not cancel other calls. To cancel them, set cancelsSiblingsOnError.')
  }
  return problems
}
