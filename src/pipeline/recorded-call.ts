import type { AgentAttempt, AgentOf, RunLog } from '../journal/run-log.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import type { ToolCall } from './tool-call.ts'

/** A call of a session with a log, as its body sees it: an agent inside it is a session with a log of its own. */
export class RecordedCall {
  readonly log: RunLog
  readonly #call: ToolCall
  #isSuspended = false

  constructor(call: ToolCall, log: RunLog) {
    this.log = log
    this.#call = call
  }

  get id(): string {
    return this.#call.id
  }

  get of(): AgentOf {
    return { ...this.#call.named, tool: this.#call.name }
  }

  get attempt(): AgentAttempt {
    return { ...this.of, isRetry: this.#call.attempts > 1 }
  }

  /** The run inside the body waits for a person, so the body is not under way. */
  get isSuspended(): boolean {
    return this.#isSuspended
  }

  set isSuspended(isSuspended: boolean) {
    this.#isSuspended = isSuspended
    // whoever waits until nothing is under way looks again
    const { body, executor } = this.#call
    const services = body?.call.executor ?? executor
    services.push(() => undefined)
  }
}

const key = Symbol('recordedCall')

type MaybeRecorded = ToolUseContext & { [key]?: RecordedCall }

export function markRecorded(context: MaybeRecorded, call: ToolCall, log: RunLog): void {
  context[key] = new RecordedCall(call, log)
}

/** Undefined where nothing is recorded, and inside a query that a tool made with the context of its call. */
export function recordedCallOf(context: MaybeRecorded & { toolUseID: string }): RecordedCall | undefined {
  const recorded = context[key]
  return recorded?.id === context.toolUseID ? recorded : undefined
}

/** The context for what runs inside the call, without the call. */
export function withoutCall({ [key]: _key, toolUseID: _id, options: _options, ...context }: MaybeRecorded) {
  return context
}
