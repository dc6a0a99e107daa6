import type { Decision } from '../../machines/index.ts'
import { LazyAbortController } from '../base/lazy-abort-controller.ts'
import type { Hooks } from '../hooks/hook.ts'
import type { PermissionSettings } from '../permission/permission-settings.ts'
import type { DetachOptions } from './background.ts'
import type { Locks } from './locks.ts'
import type { AnyTool } from './tool.ts'

/** The host's context for its tools. A plain object: keys that Signalbox does not know are kept. */
export interface ToolUseContext {
  /** The query's controller: aborting it aborts every call. */
  abortController: AbortController
  options: { tools: readonly AnyTool[]; [key: string]: unknown }
  /** The ids of the calls between `executing` and `yielded`, for user interfaces. */
  setInProgressToolUseIDs?: ((update: (previous: Set<string>) => Set<string>) => void) | undefined
  /** Called on change: true while calls execute and all of them stop at an interrupt. */
  setHasInterruptibleToolInProgress?: ((value: boolean) => void) | undefined
  messageId?: string | undefined
  /** Rules and mode: which calls run without a question, which are asked about, and which never run. */
  permissions?: PermissionSettings | undefined
  /** The host's functions that run before and after each call. */
  hooks?: Hooks | undefined
  /** Keys that are shared with other executors, such as agents and parallel sessions: `createLocks()`. */
  locks?: Locks | undefined
  /** If given, each call's decision is stored in it, by id. */
  toolDecisions?: Map<string, Decision> | undefined
  [key: string]: unknown
}

/** The context of one call, with the call's id and its own controller. */
export interface ToolCallContext extends ToolUseContext {
  toolUseID: string
  /**
   * Sends this call to the background: the model gets the id now and the outcome in a later turn. Call it as
   * `context.detach?.('…')`; the text is for the model. Returns false if the call cannot go there: its executor belongs
   * to no query, or too many calls are in the background. Every executor supplies it.
   */
  detach?(this: Pick<ToolUseContext, 'abortController'>, note?: string | DetachOptions): boolean
}

/** Adds the required fields that are absent. */
export function createToolUseContext<Given extends object>(
  given?: Given & Partial<ToolUseContext>,
): Given & ToolUseContext {
  const { abortController, options } = (given ?? {}) as Partial<ToolUseContext>
  return Object.assign({} as Given, given, {
    abortController: abortController ?? new LazyAbortController(),
    options: Object.assign({}, options, { tools: options?.tools ?? [] }),
  })
}
