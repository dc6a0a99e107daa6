/** The points of a call at which hooks run. */
export type HookEvent = 'PreToolUse' | 'PostToolUse' | 'PostToolUseFailure'

interface HookInputBase {
  /** `sessionId`, `transcriptPath` and `cwd` of the context; empty strings if absent. */
  session_id: string
  transcript_path: string
  cwd: string
  permission_mode?: string
  tool_name: string
  tool_input: unknown
  tool_use_id: string
}

export interface PreToolUseHookInput extends HookInputBase {
  hook_event_name: 'PreToolUse'
}

export interface PostToolUseHookInput extends HookInputBase {
  hook_event_name: 'PostToolUse'
  tool_response: unknown
  /** How long the tool itself ran, in milliseconds. */
  duration_ms?: number
}

export interface PostToolUseFailureHookInput extends HookInputBase {
  hook_event_name: 'PostToolUseFailure'
  error: string
  is_interrupt?: boolean
  duration_ms?: number
}

export type HookInput = PreToolUseHookInput | PostToolUseHookInput | PostToolUseFailureHookInput

/** The reply of a hook. Every field is optional; `{}` changes nothing. */
export interface HookOutput {
  /** `false` ends the query after this turn. Before a call, `false` also prevents that call. */
  continue?: boolean
  stopReason?: string
  /** The older form of `permissionDecision`: `approve` allows; `block` denies before a call and objects after it. */
  decision?: 'approve' | 'block'
  reason?: string
  /** Shown to the user, not to the model. */
  systemMessage?: string
  suppressOutput?: boolean
  hookSpecificOutput?: {
    hookEventName: string
    permissionDecision?: 'allow' | 'deny' | 'ask' | 'defer'
    permissionDecisionReason?: string
    updatedInput?: Record<string, unknown>
    /** Given to the model beside the result. */
    additionalContext?: string
    /** After a call: replaces the tool's output. */
    updatedToolOutput?: unknown
    /** Like `updatedToolOutput`, but only for tools of MCP servers. */
    updatedMCPToolOutput?: unknown
    // hooks for other events have other fields
    [key: string]: unknown
  }
  /** The hook continues in the background, and its reply is ignored. */
  async?: boolean
  // the Claude Agent SDK may add fields
  [key: string]: unknown
}

/** The signature of the Claude Agent SDK: a hook written for it works here unchanged. */
export type HookCallback = (
  input: HookInput,
  toolUseID: string | undefined,
  options: { signal: AbortSignal },
) => Promise<HookOutput | void>

export interface HookMatcher {
  /** A tool's name, several as `A|B`, a regular expression, or `*`. Absent: every tool. */
  matcher?: string | undefined
  hooks: readonly HookCallback[]
  /**
   * The timeout in seconds, for each of these hooks.
   * @default 60
   */
  timeout?: number | undefined
  /**
   * What happens when one of these hooks throws, times out or returns an invalid reply. Before a call, `'block'` prevents
   * the call. After a call, the result is kept in either case.
   * @default 'block'
   */
  onFailure?: 'continue' | 'block' | undefined
}

export interface Hooks {
  PreToolUse?: readonly HookMatcher[] | undefined
  PostToolUse?: readonly HookMatcher[] | undefined
  PostToolUseFailure?: readonly HookMatcher[] | undefined
}
