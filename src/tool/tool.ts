import type { z } from 'zod'
import type { PermissionBehavior } from '../../machines/index.ts'
import type { AssistantMessage, Message, ToolResultBlock } from '../messages/message.ts'
import type { ToolBackground } from './background.ts'
import type { CanUseTool, ToolCheck } from './permission.ts'
import type { ToolCallContext, ToolUseContext } from './tool-use-context.ts'

/** The return value of a call. */
export interface ToolResult<Data = unknown> {
  data: Data
  /**
   * For a call that was told to stop: `true` if its work was cut short and `data` is the output so far, `false` if it
   * finished anyway. The model gets this information. If absent, the model is told that either is possible.
   */
  interrupted?: boolean | undefined
  /** Changes the context for later calls, in emission order. */
  contextModifier?: ((context: ToolUseContext) => ToolUseContext) | undefined
  /** Added beside the result as an attachment of type `structured_output`. */
  structuredOutput?: unknown
  /** Delivered to the host right after the result. */
  newMessages?: Message[] | undefined
}

export type ProgressChunk = { type: 'progress'; data: unknown }
export interface ResultChunk<Data = unknown> extends ToolResult<Data> {
  type: 'result'
}

export type OnProgress = (progress: { toolUseID?: string; data: unknown }) => void

/** A call as `cancelsSiblingsOnError` sees it. */
export interface SiblingCall {
  toolUseID: string
  /** The name of its tool. */
  name: string
  input: unknown
  /** The answer of its tool's `isReadOnly` for this input. */
  isReadOnly: boolean
}

/** The resources that a call reads and writes. Calls conflict if one writes what the other reads or writes. */
export interface Resources {
  reads?: readonly string[] | undefined
  writes?: readonly string[] | undefined
}

/** How a call of a tool failed. */
export interface ToolFailure {
  kind: 'failed' | 'timeout' | 'invalid_input' | 'unformattable'
  /** The thrown value, if there was one. */
  error?: unknown
  /** The return value of the call, if the result itself is marked as an error. */
  data?: unknown
  /** The text that the model gets. */
  message: string
}

export interface Retry {
  /** How often the body may run, including the first time. */
  attempts: number
  /**
   * How long to wait before each further attempt, in milliseconds.
   * @default 0
   */
  backoffMs?: number | ((failedAttempts: number) => number) | undefined
  /**
   * Whether this error is worth another attempt. A throw counts as no.
   * @default every error is
   */
  when?: ((error: unknown, failedAttempts: number) => boolean) | undefined
}

export type InputVerdict = { result: true } | { result: false; message: string; errorCode?: number; meta?: unknown }

export type Timeout = number | { totalMs?: number | undefined; idleMs?: number | undefined }

/** A JSON Schema of an object: the form in which a model gets the input's type. */
export type JSONObjectSchema = { type: 'object'; [keyword: string]: unknown }

/** The return type of `call`: a promise of the result, or a generator that also yields progress. */
export type ToolReturn<Data = unknown> =
  | Promise<ToolResult<Data>>
  | AsyncGenerator<ProgressChunk | ResultChunk<Data>, ToolResult<Data> | void, undefined>

/** The decision of a tool about a call that was running when its process stopped. */
export type Recovery<Data = unknown> = 'again' | 'unknown' | ToolResult<Data>

/** A tool is a plain object. Only `name`, `inputSchema` and `call` are required; unknown keys are kept. */
export interface Tool<Schema extends z.ZodObject = z.ZodObject, Data = unknown> {
  /** The name that the model uses. No two tools have the same name. */
  name: string
  /** Checks the input. If the input does not match, the model gets an error result that says what to change. */
  inputSchema: Schema
  /**
   * Does the work: an async function that returns `{ data }`, or an async generator that yields
   * `{ type: 'progress', data }` any number of times and `{ type: 'result', data }` once.
   */
  call(
    input: z.output<Schema>,
    context: ToolCallContext,
    canUseTool: CanUseTool | undefined,
    assistantMessage: AssistantMessage,
    onProgress: OnProgress,
  ): Promise<ToolResult<Data>> | AsyncGenerator<ProgressChunk | ResultChunk<Data>, ToolResult<Data> | void, undefined>
  /** The version of its code. A worker with another version refuses a call that was sent to it. */
  version?: string | number | undefined
  /** The description that the model gets. */
  description?: string | undefined
  /**
   * The JSON Schema that the model gets, word for word. `inputSchema` still checks the input.
   * @default the JSON Schema of `inputSchema`
   */
  inputJSONSchema?: JSONObjectSchema | undefined
  /** Other names by which a model may call the tool. */
  aliases?: readonly string[] | undefined
  /**
   * May this call run beside other safe calls? A throw counts as `false`.
   * @default () => false
   */
  isConcurrencySafe?(input: z.output<Schema>): boolean
  /**
   * The resources that this call reads and writes, as keys `scheme:path`. A key that ends in `/` covers everything
   * below it, `*` covers everything. Calls that do not conflict run in parallel, whatever `isConcurrencySafe` says. May
   * read synchronously, must have no effects. A throw counts as `{ writes: ['*'] }`.
   * @default safe calls read `*`, others write `*`
   */
  resources?(input: z.output<Schema>, context: ToolUseContext): Resources
  /**
   * The body is an agent, or runs calls of its own in another way, with its context. Such a call takes no keys of
   * `context.locks`: its inner calls do.
   * @default false
   */
  isAgent?: boolean | undefined
  /**
   * Whether equal calls in a row make sense, such as for a tool that polls. Others are asked about by the loop guard.
   * @default false
   */
  mayRepeat?: boolean | undefined
  /**
   * Whether this very call changes nothing: only such calls run in mode `plan`. Whether a call runs in parallel is
   * decided by `isConcurrencySafe` alone.
   * @default () => false
   */
  isReadOnly?(input: z.output<Schema>): boolean
  /**
   * What happens when the user sends a new message while the call runs. A throw counts as `'block'`.
   * @default () => 'block'
   */
  interruptBehavior?(): 'cancel' | 'block'
  /**
   * Whether a failed call cancels other calls of the turn: all of them, or those for which the function returns `true`.
   * The function is called for each unfinished call, and for each call that is added later. A throw counts as `false`.
   * @default false
   */
  cancelsSiblingsOnError?: boolean | ((outcome: ToolFailure & SiblingCall, sibling: SiblingCall) => boolean) | undefined
  /** Normalizes an input that matches the schema, before `validateInput`. */
  normalizeInput?(input: z.output<Schema>, context: ToolCallContext): z.output<Schema> | Promise<z.output<Schema>>
  /** Rejects an input with a message that the model can act on. */
  validateInput?(input: z.output<Schema>, context: ToolCallContext): InputVerdict | Promise<InputVerdict>
  /** The tool's own decision whether this call may run. A throw denies. */
  checkPermissions?(
    input: z.output<Schema>,
    context: ToolCallContext,
  ): ToolCheck | undefined | Promise<ToolCheck | undefined>
  /**
   * Whether the specifier of a rule, such as `npm *` in `Bash(npm *)`, matches this call. A throw counts as a match for
   * deny and ask rules, and as no match for allow rules.
   */
  matchesRule?(
    spec: string,
    input: z.output<Schema>,
    context: ToolCallContext,
    behavior: PermissionBehavior,
  ): boolean | Promise<boolean>
  /**
   * The specifier of a rule that matches this call and no other, for the answer "always". It is offered as `rule` of the
   * question if `matchesRule` agrees. A throw, or undefined, offers no rule.
   */
  exactRule?(input: z.output<Schema>): string | undefined
  /**
   * A problem with the specifier of a rule, or a remark about it, such as that the rule allows any program. Called once,
   * when the rule is parsed.
   */
  checkRule?(spec: string, behavior: PermissionBehavior): { severity: 'error' | 'warning'; message: string } | undefined
  /** Other rule names that apply to this tool: a rule for `Edit` applies to every tool that edits files. */
  ruleNames?: readonly string[] | undefined
  /** Whether this call only edits files of the workspace: such calls run in mode `acceptEdits`. */
  editsWorkspace?(input: z.output<Schema>, context: ToolCallContext): boolean | Promise<boolean>
  /** Retries for calls that fail. Without it there are none. */
  retry?: Retry | undefined
  /**
   * Decides about a call that was running when its process stopped: run it `'again'`, with the same id and input and
   * without hooks or questions; `{ data }`, if the outcome can be found out; or `'unknown'`. A throw counts as `'unknown'`.
   * @default 'again' for read-only calls, 'unknown' for others
   */
  recover?(input: z.output<Schema>, context: ToolCallContext): Recovery<Data> | Promise<Recovery<Data>>
  /** Converts the data for the model. By default strings and content blocks stay as they are; anything else becomes JSON. */
  mapResult?(data: Data, toolUseID: string): ToolResultBlock
  /** @default 50_000 */
  maxResultSizeChars?: number | undefined
  /** In milliseconds: a total for all attempts together, or a total and a limit since the last progress. */
  timeout?: Timeout | undefined
  /**
   * When calls go to the background: their body runs on while the conversation continues, and the model gets the outcome
   * in a later turn.
   * @default only when the body or the host asks for it
   */
  background?: ToolBackground | undefined
  /**
   * How far the model's stream must have come before a call may start: its block has closed, the next block has begun,
   * or the turn has ended. Used by the code that streams, not by the executor: see `hold` and `release`.
   * @default `'closed'` for safe calls, `'nextBlock'` for others
   */
  startWhen?: 'closed' | 'nextBlock' | 'turnEnded' | undefined
  /** A short summary of a call, shown as `Bash(npm test)`. By default `command`, `file_path` or `pattern`. */
  describe?(input: z.output<Schema>): string
}

/** Any tool, with any schema and data. */
export type AnyTool = Tool<z.ZodObject, unknown>
