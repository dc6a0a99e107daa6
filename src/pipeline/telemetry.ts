import type { Decision } from '../../machines/index.ts'

/** The phases of a call that are timed. */
export type TimedPhase =
  | 'recovering'
  | 'locking'
  | 'journaling'
  | 'recording'
  | 'validating'
  | 'preHooks'
  | 'permission'
  | 'calling'
  | 'retrying'
  | 'stopping'
  | 'postHooks'
  | 'formatting'

/** The common fields of all events. */
export interface CallTelemetry {
  /** The id of the reply with the call. */
  readonly messageID: string
  readonly toolUseID: string
  readonly toolName: string
  /** In milliseconds, for each phase since the first listener was added. */
  readonly durations: { readonly [Phase in TimedPhase]?: number }
  /** Phases that took longer than two seconds. */
  readonly slowPhases: readonly TimedPhase[]
  /** Whether the call may run, and what decided it. Absent if no decision was needed. */
  readonly decision?: Decision
  /** The input as JSON, truncated to 200 characters. */
  readonly input: string
  /** How often the body has run. */
  readonly attempts: number
}

interface WithMessage extends CallTelemetry {
  /** Truncated to 2,000 characters. */
  readonly message: string
}

/** The outcomes of calls, for dashboards and logs. */
export interface TelemetryEvents {
  /** A body starts. `toolUseID` is the same for every attempt, and `attempts` is the number of the attempt. */
  tool_use_start: CallTelemetry
  tool_use_success: CallTelemetry
  /** `label` is the kind of the error, without private data. `error` is the thrown value, if there was one. */
  tool_use_error: WithMessage & { readonly label: string; readonly error?: unknown }
  tool_use_cancelled: WithMessage & { readonly reason: string }
  /** The process that ran the call has ended: whether the call took effect is unknown. `error` says more, for remote tools. */
  tool_use_unknown: WithMessage & { readonly error?: unknown }
  tool_use_progress: CallTelemetry
  /** The call was denied. */
  tool_use_rejected: WithMessage
  post_tool_hook_error: WithMessage & { readonly hookName: string }
}

export const telemetryTypes = [
  'tool_use_start',
  'tool_use_success',
  'tool_use_error',
  'tool_use_cancelled',
  'tool_use_unknown',
  'tool_use_progress',
  'tool_use_rejected',
  'post_tool_hook_error',
] as const satisfies (keyof TelemetryEvents)[]
