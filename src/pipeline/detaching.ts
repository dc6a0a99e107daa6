import type { Detachment } from '../../machines/index.ts'
import type { DetachOptions } from '../tool/background.ts'
import type { SharedLocks } from '../tool/locks.ts'
import type { ToolCallContext } from '../tool/tool-use-context.ts'
import { CallAbortController } from './call-abort-controller.ts'
import type { ExecutorServices } from './executor-services.ts'
import type { ToolCall } from './tool-call.ts'

/** A background call by its id, and how a call became it. */
export interface DetachedAs {
  readonly id: string
  readonly how: Detachment
}

/** Takes over the bodies of calls that go on in the background. */
export interface BackgroundIntake {
  readonly hasRoom: boolean
  /** In which background calls keep their keys; undefined until one does. */
  readonly locks: SharedLocks | undefined
  /** Inside a step: only takes note. */
  take(call: ToolCall, how: Detachment): DetachedAs
  /** The reply of these calls does not count: they are stopped, and nobody gets their outcomes. */
  discardOf(executor: ExecutorServices, reason?: unknown): void
  /** The background calls whose outcomes the result of a call tells. */
  readBy(call: ToolCall): readonly string[]
}

/** Sends a running call to the background. False if it does not run, or nobody can take it over. */
export function detachCall(call: ToolCall, given?: string | DetachOptions): boolean {
  if (call.background !== undefined) return true
  call.tell({ type: 'call.detach', how: detachmentOf(call, given) })
  return call.background !== undefined
}

function detachmentOf({ tool }: ToolCall, given: string | DetachOptions = {}): Detachment {
  const { note, awaited, onEnd } = typeof given === 'string' ? { note: given } : { ...given }
  return {
    note: typeof note === 'string' ? note : undefined,
    isAwaited: awaited ?? tool?.background?.awaited ?? true,
    onEnd: onEnd ?? tool?.background?.onEnd ?? 'stop',
  }
}

/** The `detach` of every context: one function for all calls, which finds its call by the call's own controller. */
export function detachFromBody(
  this: Pick<ToolCallContext, 'abortController'>,
  given?: string | DetachOptions,
): boolean {
  const call = callOf(this)
  return call !== undefined && detachCall(call, given)
}

/** The call that a context belongs to. */
export function callOf(context: { readonly abortController?: unknown } | undefined): ToolCall | undefined {
  const controller = context?.abortController
  return controller instanceof CallAbortController ? CallAbortController.callOf(controller) : undefined
}
