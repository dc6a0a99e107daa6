import type { Decision } from '../../machines/index.ts'

/** The phases of a call whose time is measured. */
export type TimedPhase =
  | 'validating'
  | 'preHooks'
  | 'permission'
  | 'calling'
  | 'retrying'
  | 'stopping'
  | 'postHooks'
  | 'formatting'

/** What every event says of its call. */
export interface CallTelemetry {
  /** The reply that asked for the call. */
  readonly messageID: string
  readonly toolUseID: string
  readonly toolName: string
  /** In milliseconds, for each phase the call has been in since somebody listens. */
  readonly durations: { readonly [Phase in TimedPhase]?: number }
  /** Phases that took longer than two seconds. */
  readonly slowPhases: readonly TimedPhase[]
  /** Whether it may run, and whose word that was. Absent where nothing had to be decided. */
  readonly decision?: Decision
  /** The input as JSON, cut to 200 characters. */
  readonly input: string
  /** How often the body has run. */
  readonly attempts: number
}

interface WithMessage extends CallTelemetry {
  /** Cut to 2,000 characters. */
  readonly message: string
}

/** What became of calls, for dashboards and logs. */
export interface TelemetryEvents {
  /** A body starts. `toolUseID` is the same for every attempt, and `attempts` says which one it is. */
  tool_use_start: CallTelemetry
  tool_use_success: CallTelemetry
  /** `label` says what kind of error it was, and holds nothing private. `error` is what was thrown, where something was. */
  tool_use_error: WithMessage & { readonly label: string; readonly error?: unknown }
  tool_use_cancelled: WithMessage & { readonly reason: string }
  tool_use_progress: CallTelemetry
  /** Somebody or something did not permit it. */
  tool_use_rejected: WithMessage
  post_tool_hook_error: WithMessage & { readonly hookName: string }
}

export const telemetryTypes = [
  'tool_use_start',
  'tool_use_success',
  'tool_use_error',
  'tool_use_cancelled',
  'tool_use_progress',
  'tool_use_rejected',
  'post_tool_hook_error',
] as const satisfies (keyof TelemetryEvents)[]
