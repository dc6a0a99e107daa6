import type { AnyActorRef, AnyActorScope, AnyEventObject, AnyTransitionDefinition, MachineContext } from 'xstate'
import { internalsOf, isInspected, isRunning, relayTo } from './xstate-internals.ts'

export type Assignment = ((step: ChartStep, params: unknown) => MachineContext) | MachineContext

const none: readonly AnyTransitionDefinition[] = []

/**
 * One step of a chart, and what its guards and actions are given: one object for all of them, whose context is what
 * the actions so far have left. It is also what `enqueueActions` enqueues on, as far as the charts here do.
 */
export class ChartStep {
  context: MachineContext
  readonly event: AnyEventObject
  readonly scope: AnyActorScope
  /** The transitions of the microstep that is under way. */
  taken: readonly AnyTransitionDefinition[] = none

  constructor(scope: AnyActorScope, event: AnyEventObject, context: MachineContext) {
    this.scope = scope
    this.event = event
    this.context = context
  }

  get self(): AnyActorRef {
    return this.scope.self
  }

  get system(): AnyActorScope['system'] {
    return this.scope.system
  }

  get enqueue(): this {
    return this
  }

  assign(assignment: Assignment, params?: unknown): void {
    const given = typeof assignment === 'function' ? assignment(this, params) : assignment
    const context = { ...this.context }
    for (const key in given) context[key] = resolved(given[key], this, params)
    this.context = context
  }

  /** Deferred, as XState does it: whoever receives the event finds the sender's new snapshot. */
  sendTo(to: AnyActorRef, event: AnyEventObject): void {
    const { scope } = this
    const relay = () => relayTo(scope.self, to, event)
    if (isRunning(scope.self)) {
      if (isInspected(scope.system)) this.#tell('xstate.sendTo', { to, event })
      scope.defer(relay)
    } else this.#whenStarted('xstate.sendTo', { to, event }, () => scope.defer(relay))
  }

  /** Tells who looks on, and runs it: at once, or, for the actions of an actor that has not started, when it does. */
  perform(type: string, params: unknown, action: ((step: ChartStep, params: unknown) => void) | undefined): void {
    if (isRunning(this.scope.self)) {
      if (isInspected(this.scope.system)) this.#tell(type, params)
      action?.(this, params)
    } else {
      const now = new ChartStep(this.scope, this.event, this.context)
      this.#whenStarted(type, params, () => action?.(now, params))
    }
  }

  #tell(type: string, params: unknown): void {
    const { self, system } = this.scope
    internalsOf(system)._sendInspectionEvent({ type: '@xstate.action', actorRef: self, action: { type, params } })
  }

  #whenStarted(type: string, params: unknown, exec: () => void): void {
    this.scope.actionExecutor({ type, info: this as never, params: params as never, exec })
  }
}

export const resolved = (value: unknown, step: ChartStep, params: unknown): unknown =>
  typeof value === 'function' ? value(step, params) : value
