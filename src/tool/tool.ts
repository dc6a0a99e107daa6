import type { z } from 'zod'
import type { PermissionBehavior } from '../../machines/index.ts'
import type { AssistantMessage, Message, ToolResultBlock } from '../messages/message.ts'
import type { CanUseTool, ToolCheck } from './permission.ts'
import type { ToolCallContext, ToolUseContext } from './tool-use-context.ts'

/** What a call hands back. */
export interface ToolResult<Data = unknown> {
  data: Data
  /**
   * For a call that was told to stop: `true` where its work was cut short and `data` is its output until then, `false`
   * where it had finished all the same. The model is told so. Where it is absent, the model is told that it may be either.
   */
  interrupted?: boolean | undefined
  /** Changes the context for the calls after this one, in the order in which the model asked. */
  contextModifier?: ((context: ToolUseContext) => ToolUseContext) | undefined
  /** Left beside the result as an attachment of type `structured_output`. */
  structuredOutput?: unknown
  /** Handed to the host right after the result. */
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
  /** What its tool's `isReadOnly` says of this input. */
  isReadOnly: boolean
}

/** What a call reads and writes. Calls conflict if one writes what the other reads or writes. */
export interface Resources {
  reads?: readonly string[] | undefined
  writes?: readonly string[] | undefined
}

/** How a call of a tool failed. */
export interface ToolFailure {
  kind: 'failed' | 'timeout' | 'invalid_input' | 'unformattable'
  /** What was thrown, where something was. */
  error?: unknown
  /** What the call returned, where the result itself says that it is an error. */
  data?: unknown
  /** The text that the model gets. */
  message: string
}

export interface Retry {
  /** How often the body may run, the first time included. */
  attempts: number
  /**
   * How long to wait before each further attempt, in milliseconds.
   * @default 0
   */
  backoffMs?: number | ((failedAttempts: number) => number) | undefined
  /**
   * Whether this very error is worth another attempt. A throw counts as no.
   * @default every error is
   */
  when?: ((error: unknown, failedAttempts: number) => boolean) | undefined
}

export type InputVerdict = { result: true } | { result: false; message: string; errorCode?: number; meta?: unknown }

export type Timeout = number | { totalMs?: number | undefined; idleMs?: number | undefined }

/** A JSON Schema of an object: the form in which models are told of inputs. */
export type JSONObjectSchema = { type: 'object'; [keyword: string]: unknown }

/** What `call` may return: a promise of the result, or a generator that reports progress on the way. */
export type ToolReturn<Data = unknown> =
  | Promise<ToolResult<Data>>
  | AsyncGenerator<ProgressChunk | ResultChunk<Data>, ToolResult<Data> | void, undefined>

/** A tool is a plain object. Only `name`, `inputSchema` and `call` are required; unknown keys are kept. */
export interface Tool<Schema extends z.ZodObject = z.ZodObject, Data = unknown> {
  /** What the model calls it by. No two tools share a name. */
  name: string
  /** Decides what may run. What does not fit becomes an error result that the model can act on. */
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
  /** What the model is told of it. */
  description?: string | undefined
  /**
   * What the model is told of the input, word for word, where that is known as JSON Schema already. `inputSchema` still
   * decides what may run.
   * @default the JSON Schema of `inputSchema`
   */
  inputJSONSchema?: JSONObjectSchema | undefined
  /** Other names under which a model may call it. */
  aliases?: readonly string[] | undefined
  /**
   * May this very call run beside other safe calls? A throw counts as `false`.
   * @default () => false
   */
  isConcurrencySafe?(input: z.output<Schema>): boolean
  /**
   * The resources that this very call reads and writes, as keys `scheme:path`. A key that ends in `/` covers everything
   * below it, `*` covers everything. Calls that do not conflict run in parallel, whatever `isConcurrencySafe` says. May
   * read synchronously, must have no effects. A throw counts as `{ writes: ['*'] }`.
   * @default safe calls read `*`, others write `*`
   */
  resources?(input: z.output<Schema>, context: ToolUseContext): Resources
  /**
   * Whether this very call changes nothing: only such calls run in mode `plan`. Who runs beside whom is said by
   * `isConcurrencySafe` alone.
   * @default () => false
   */
  isReadOnly?(input: z.output<Schema>): boolean
  /**
   * What happens when the user sends a new message while it runs. A throw counts as `'block'`.
   * @default () => 'block'
   */
  interruptBehavior?(): 'cancel' | 'block'
  /**
   * Whether a failing call takes other calls of the turn with it: all of them, or those for which the function says so.
   * It is asked for each call that is not over, and for each that is added later. A throw counts as `false`.
   * @default false
   */
  cancelsSiblingsOnError?: boolean | ((outcome: ToolFailure & SiblingCall, sibling: SiblingCall) => boolean) | undefined
  /** Tidies an input that fits the schema, before it is validated. */
  normalizeInput?(input: z.output<Schema>, context: ToolCallContext): z.output<Schema> | Promise<z.output<Schema>>
  /** A veto with a message that the model can act on. */
  validateInput?(input: z.output<Schema>, context: ToolCallContext): InputVerdict | Promise<InputVerdict>
  /** The tool's own word on whether this very call may run. A throw denies. */
  checkPermissions?(
    input: z.output<Schema>,
    context: ToolCallContext,
  ): ToolCheck | undefined | Promise<ToolCheck | undefined>
  /**
   * Whether what stands in the brackets of a rule, such as `npm *` in `Bash(npm *)`, speaks of this very call. A throw
   * counts as a match for deny and ask rules, and as none for allow rules.
   */
  matchesRule?(
    spec: string,
    input: z.output<Schema>,
    context: ToolCallContext,
    behavior: PermissionBehavior,
  ): boolean | Promise<boolean>
  /**
   * What is wrong with the brackets of a rule, or worth knowing about them, such as that the rule allows any program.
   * Asked once, when the rule is read.
   */
  checkRule?(spec: string, behavior: PermissionBehavior): { severity: 'error' | 'warning'; message: string } | undefined
  /** Rules with these names speak of this tool too: those of `Edit` of every tool that edits files. */
  ruleNames?: readonly string[] | undefined
  /** Whether this very call edits files of the workspace and does nothing else: such calls run in mode `acceptEdits`. */
  editsWorkspace?(input: z.output<Schema>, context: ToolCallContext): boolean | Promise<boolean>
  /** Lets a call that failed run again. Without it, none does. */
  retry?: Retry | undefined
  /** How the data reaches the model. By default: strings and content blocks as they are, anything else as JSON. */
  mapResult?(data: Data, toolUseID: string): ToolResultBlock
  /** @default 50_000 */
  maxResultSizeChars?: number | undefined
  /** In milliseconds, in total (all attempts together); or in total and since the last progress. */
  timeout?: Timeout | undefined
  /**
   * How far the model's stream must have come before a call may start: its block has closed, the stream has gone
   * past it, or the turn has ended. Read by whoever streams, not by the executor: see `hold` and `release`.
   * @default `'closed'` for safe calls, `'nextBlock'` for others
   */
  startWhen?: 'closed' | 'nextBlock' | 'turnEnded' | undefined
  /** A short summary of a call, shown as `Bash(npm test)`. By default `command`, `file_path` or `pattern`. */
  describe?(input: z.output<Schema>): string
}

/** Any tool, whatever its schema and its data. */
export type AnyTool = Tool<z.ZodObject, unknown>
