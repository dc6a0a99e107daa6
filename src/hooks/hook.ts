/** The moments of a call at which hooks run. */
export type HookEvent = 'PreToolUse' | 'PostToolUse' | 'PostToolUseFailure'

interface HookInputBase {
  /** `sessionId`, `transcriptPath` and `cwd` of the context, or empty. */
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

/** What a hook may say. All of it is optional, and `{}` says nothing. */
export interface HookOutput {
  /** `false` ends the query after this turn. Before a call, it also keeps that call from running. */
  continue?: boolean
  stopReason?: string
  /** An older way to say `permissionDecision`: `approve` allows, `block` denies or, after a call, objects. */
  decision?: 'approve' | 'block'
  reason?: string
  /** For the user, not for the model. */
  systemMessage?: string
  suppressOutput?: boolean
  hookSpecificOutput?: {
    hookEventName: string
    permissionDecision?: 'allow' | 'deny' | 'ask' | 'defer'
    permissionDecisionReason?: string
    updatedInput?: Record<string, unknown>
    /** For the model, beside the result. */
    additionalContext?: string
    /** After a call: takes the place of what the tool returned. */
    updatedToolOutput?: unknown
    /** The same, for tools of MCP servers only. */
    updatedMCPToolOutput?: unknown
    // hooks for other moments have other fields
    [key: string]: unknown
  }
  /** It goes on in the background, and has no say. */
  async?: boolean
  // as the Claude Agent SDK grows, so may its outputs
  [key: string]: unknown
}

/** The signature of the Claude Agent SDK: a hook written for it works here unchanged. */
export type HookCallback = (
  input: HookInput,
  toolUseID: string | undefined,
  options: { signal: AbortSignal },
) => Promise<HookOutput | void>

export interface HookMatcher {
  /** A tool's name, several as `A|B`, a regular expression, or `*`; absent for every tool. */
  matcher?: string | undefined
  hooks: readonly HookCallback[]
  /**
   * In seconds, for each of these hooks.
   * @default 60
   */
  timeout?: number | undefined
  /**
   * What happens when one of these hooks throws, is out of time or says something unreadable. Before a call `'block'`
   * keeps the call from running; a result that is there is never lost, whatever stands here.
   * @default 'block'
   */
  onFailure?: 'continue' | 'block' | undefined
}

export interface Hooks {
  PreToolUse?: readonly HookMatcher[] | undefined
  PostToolUse?: readonly HookMatcher[] | undefined
  PostToolUseFailure?: readonly HookMatcher[] | undefined
}
