import type { Decision } from '../../machines/index.ts'
import type { Hooks } from '../hooks/hook.ts'
import type { PermissionSettings } from '../permission/permission-settings.ts'
import type { AnyTool } from './tool.ts'

/** What the host gives its tools to work with. A plain object: keys that Signalbox does not know survive. */
export interface ToolUseContext {
  /** The query's own controller: aborting it reaches every call. */
  abortController: AbortController
  options: { tools: readonly AnyTool[]; [key: string]: unknown }
  /** The ids of the calls that are between `executing` and `yielded`, for user interfaces. */
  setInProgressToolUseIDs?: ((update: (previous: Set<string>) => Set<string>) => void) | undefined
  /** True while something executes and all of it would stop at an interrupt; called on change. */
  setHasInterruptibleToolInProgress?: ((value: boolean) => void) | undefined
  messageId?: string | undefined
  /** What may run without asking, what is asked, and what never runs. */
  permissions?: PermissionSettings | undefined
  /** Functions of the host that run before and after each call. */
  hooks?: Hooks | undefined
  /** Where it is given, each call's decision is written into it, by id. */
  toolDecisions?: Map<string, Decision> | undefined
  [key: string]: unknown
}

/** The context as one call sees it: with its id, and with a controller that is its own. */
export interface ToolCallContext extends ToolUseContext {
  toolUseID: string
}

/** Fills in what is absent. */
export function createToolUseContext<Given extends object>(
  given?: Given & Partial<ToolUseContext>,
): Given & ToolUseContext {
  const { abortController, options } = (given ?? {}) as Partial<ToolUseContext>
  return Object.assign({} as Given, given, {
    abortController: abortController ?? new AbortController(),
    options: Object.assign({}, options, { tools: options?.tools ?? [] }),
  })
}
