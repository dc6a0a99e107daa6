import { describeValue } from '../base/describe-value.ts'
import { readField } from '../base/read-field.ts'
import type { IdsAndTime } from '../messages/ids-and-time.ts'
import { resultTexts } from '../results/result-texts.ts'
import type { CallTelemetry, TelemetryEvents, TimedPhase } from './telemetry.ts'
import type { ToolCall } from './tool-call.ts'

const maxInputChars = 200
const maxMessageChars = 2_000
const slowMs = 2_000

interface Listeners {
  has(type: keyof TelemetryEvents): boolean
  readonly hasTelemetry: boolean
  emit<Type extends keyof TelemetryEvents>(type: Type, event: TelemetryEvents[Type]): void
}

interface Timing {
  readonly durations: { [Phase in TimedPhase]?: number }
  phase: TimedPhase | undefined
  since: number
}

/** Reports the outcomes of calls to listeners. Without listeners nothing is measured or kept. */
export class CallReports {
  readonly #listeners: Listeners
  readonly #idsAndTime: IdsAndTime
  /** Created for the first listener. */
  #timings: WeakMap<ToolCall, Timing> | undefined

  constructor(listeners: Listeners, idsAndTime: IdsAndTime) {
    this.#listeners = listeners
    this.#idsAndTime = idsAndTime
  }

  get isWanted(): boolean {
    return this.#listeners.hasTelemetry
  }

  entered(call: ToolCall, phase: TimedPhase): void {
    if (!this.isWanted) return
    this.#timings ??= new WeakMap()
    const timing = this.#timings.get(call) ?? { durations: {}, phase: undefined, since: 0 }
    this.#close(timing)
    timing.phase = phase
    this.#timings.set(call, timing)
  }

  /** The call is queued again; that time belongs to no phase. */
  left(call: ToolCall): void {
    const timing = this.#timings?.get(call)
    if (timing !== undefined) this.#close(timing)
  }

  started(call: ToolCall): void {
    if (this.#listeners.has('tool_use_start')) this.#listeners.emit('tool_use_start', this.#telemetry(call))
  }

  progressed(call: ToolCall): void {
    if (this.#listeners.has('tool_use_progress')) this.#listeners.emit('tool_use_progress', this.#telemetry(call))
  }

  postHookFailed(call: ToolCall, { hook, problem }: { hook: { name: string }; problem: string }): void {
    if (!this.isWanted) return
    const message = cut(problem, maxMessageChars)
    this.#listeners.emit('post_tool_hook_error', { ...this.#telemetry(call), message, hookName: hook.name })
  }

  completed(call: ToolCall): void {
    if (!this.isWanted) return
    this.left(call)
    const told = this.#telemetry(call)
    const { ending, answer, outcome } = call
    if (ending?.by === 'abort') {
      const { kind, reason } = ending.cause
      const message = cut(describeValue(reason, maxMessageChars), maxMessageChars)
      return this.#listeners.emit('tool_use_cancelled', { ...told, message, reason: kind })
    }
    if (ending?.by === 'unknown') {
      const { bodyResult } = call
      const thrown = bodyResult?.ok === false ? { error: bodyResult.error } : {}
      const { toolUseResult } = resultTexts.unknownOutcome()
      return this.#listeners.emit('tool_use_unknown', { ...told, message: toolUseResult, ...thrown })
    }
    const message = cut(answer?.toolUseResult ?? outcome?.message ?? '', maxMessageChars)
    if (answer !== undefined) return this.#listeners.emit('tool_use_error', { ...told, message, label: 'NotRun' })
    if (outcome === undefined) return this.#listeners.emit('tool_use_success', told)
    if (outcome.status === 'rejected') return this.#listeners.emit('tool_use_rejected', { ...told, message })
    const thrown = 'error' in outcome ? { error: outcome.error } : {}
    this.#listeners.emit('tool_use_error', { ...told, message, label: outcome.label, ...thrown })
  }

  #close(timing: Timing): void {
    const now = this.#idsAndTime.now()
    const { phase, durations } = timing
    if (phase !== undefined) durations[phase] = (durations[phase] ?? 0) + Math.max(0, now - timing.since)
    timing.phase = undefined
    timing.since = now
  }

  #telemetry(call: ToolCall): CallTelemetry {
    const timing = this.#timings?.get(call)
    const durations = { ...timing?.durations }
    if (timing?.phase !== undefined) {
      durations[timing.phase] = (durations[timing.phase] ?? 0) + Math.max(0, this.#idsAndTime.now() - timing.since)
    }
    return {
      messageID: textOf(readField(readField(call.assistantMessage, 'message'), 'id')),
      toolUseID: call.id,
      toolName: call.tool?.name ?? call.name,
      durations,
      slowPhases: (Object.keys(durations) as TimedPhase[]).filter((phase) => (durations[phase] ?? 0) > slowMs),
      ...(call.decision !== undefined && { decision: call.decision }),
      input: cut(describeValue(call.block.input, maxInputChars), maxInputChars),
      attempts: call.attempts,
    }
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const cut = (text: string, maxChars: number): string => text.slice(0, maxChars).toWellFormed()
