import type { WarningCode } from '../pipeline/executor-services.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'
import type { ExecutorEmitter } from './events.ts'

/** Emits non-fatal warnings, each with a count per call. */
export class Warnings {
  readonly #emitter: ExecutorEmitter
  /** Created when needed, because most turns have no warnings. */
  #counts: WeakMap<ToolCall, Map<WarningCode, number>> | undefined

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

  #count(call: ToolCall, code: WarningCode): number {
    this.#counts ??= new WeakMap()
    const counts = this.#counts.get(call) ?? new Map<WarningCode, number>()
    const count = (counts.get(code) ?? 0) + 1
    this.#counts.set(call, counts.set(code, count))
    return count
  }
}
