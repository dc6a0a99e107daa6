import {
  type AnyActorRef,
  type AnyActorScope,
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateNode,
  type AnyTransitionDefinition,
  assign,
  type MachineContext,
  stopChild,
} from 'xstate'
import { sendToKnown } from './chart-actions.ts'
import { type Asked, compileGuard } from './chart-guards.ts'
import type { Configuration } from './configuration.ts'
import { check, collectAndRun, enqueue, type Spawn, spawn, whileAssigning } from './step-tools.ts'
import { internalsOf, isInspected, isRunning, relayTo } from './xstate-internals.ts'

type Assigner<Value = unknown> = (args: unknown, params: unknown) => Value
export type Assignment = Assigner<object> | Record<string, unknown>
export type Collect = (args: unknown, params: unknown) => void
/** A value, or a function that returns it. */
export type Resolvable = unknown
type Exec = ((args: unknown, params: unknown) => void) | undefined

/** An action that XState resolves and executes by itself. */
export interface BuiltInAction {
  readonly type: string
  resolve(
    scope: AnyActorScope,
    snapshot: AnyMachineSnapshot,
    args: object,
    params: unknown,
    self: BuiltInAction,
    extra: { internalQueue: AnyEventObject[]; deferredActorIds: undefined },
  ): [snapshot: AnyMachineSnapshot, params: unknown, actions: AnyTransitionDefinition['actions'] | undefined]
  execute?(scope: AnyActorScope, params: unknown): void
}

/** The parts of a snapshot besides its states. */
export type Content = Pick<AnyMachineSnapshot, 'context' | 'children' | 'status' | 'output'>

/** The arguments of an action. XState gives `spawn` only to assigners, and `enqueue` and `check` only to collectors. */
class ActionArgs {
  readonly context: MachineContext
  readonly event: AnyEventObject
  readonly self: AnyActorRef

  constructor(context: MachineContext, event: AnyEventObject, self: AnyActorRef) {
    this.context = context
    this.event = event
    this.self = self
  }

  // on the prototype: most actions need none of them
  get system(): AnyActorScope['system'] {
    return this.self.system
  }

  get spawn(): Spawn {
    return spawn
  }

  get enqueue(): typeof enqueue {
    return enqueue
  }

  get check(): typeof check {
    return check
  }
}

/**
 * The processing of one event: the input of the guards, and the changes by the actions so far. Guards and functions for
 * parameters, targets and events get this object as their argument. Actions get a new object, because they may keep it.
 * There are no private methods, because they would cost a field per step.
 */
export class ChartStep implements Asked, Content {
  readonly scope: AnyActorScope
  /** Before this microstep. */
  before: AnyMachineSnapshot
  at: Configuration
  context: MachineContext
  /** The event of the current microstep: the received event, or a raised one. */
  event: AnyEventObject
  raised: AnyEventObject[] | undefined
  /** Rarely changed parts of the snapshot, if the actions of this microstep changed them. */
  #rest: Omit<Content, 'context'> | undefined
  #made: ActionArgs | undefined

  // a new object per event: reusing one costs more, because the garbage collector tracks what old objects refer to
  constructor(scope: AnyActorScope, event: AnyEventObject, at: Configuration, before: AnyMachineSnapshot) {
    this.scope = scope
    this.event = event
    this.at = at
    this.before = before
    this.context = before.context
  }

  get children(): Content['children'] {
    return (this.#rest ?? this.before).children
  }

  get status(): Content['status'] {
    return (this.#rest ?? this.before).status
  }

  get output(): unknown {
    return (this.#rest ?? this.before).output
  }

  /** For the functions that compute the target and the contents of an event. */
  get self(): AnyActorRef {
    return this.scope.self
  }

  get system(): AnyActorScope['system'] {
    return this.scope.system
  }

  /** The snapshot between two actions: their changes so far, in the previous states. */
  snapshot(): AnyMachineSnapshot {
    return this.isChanged ? this.at.snapshotOf(this) : this.before
  }

  /** Ends the microstep. */
  arriveAt(next: Configuration): void {
    if (this.isChanged || next !== this.at) this.before = next.snapshotOf(this)
    this.at = next
    this.#rest = undefined
  }

  assign(assignment: Assignment, params: unknown): void {
    const next = { ...this.context }
    if (typeof assignment === 'function') this.context = Object.assign(next, resultOf(this, assignment, params))
    else {
      // unlike `Object.keys`, this allocates no array
      for (const key in assignment) {
        const value = assignment[key]
        next[key] = typeof value === 'function' ? resultOf(this, value as Assigner, params) : value
      }
      this.context = next
    }
  }

  /** Sets the initial context. As in XState, an object is used as it is; what a function returns is copied. */
  begins(given: unknown, input: unknown): void {
    if (typeof given !== 'function') {
      this.context = given || {}
      return
    }
    const outer = whileAssigning(this)
    try {
      const made = given({ spawn, input, self: this.scope.self })
      // a spread is the faster copy, but XState puts an own `__proto__` elsewhere
      const copy = { ...made }
      this.context = Object.hasOwn(copy, '__proto__') ? Object.assign({}, made) : copy
    } finally {
      whileAssigning(outer)
    }
  }

  spawn(given: Parameters<Spawn>): AnyActorRef {
    const actor = spawnerOf(this)(...given)
    this.keep({ ...this.children, [actor.id]: actor })
    return actor
  }

  /** Deferred, as in XState: the receiver of the event sees the sender's new snapshot. */
  sendTo(to: Resolvable, given: Resolvable, id: string | undefined, params: unknown): void {
    const { scope } = this
    const event = (typeof given === 'function' ? given(this, params) : given) as AnyEventObject
    const target = (typeof to === 'function' ? to(this, params) : to) as AnyActorRef | string | undefined
    if (typeof target === 'string' || event?.type === 'xstate.error') {
      return this.resolve(sendToKnown(target, event, id), undefined)
    }
    const receiver = target || scope.self
    const relay = () => relayTo(scope.self, receiver, event)
    if (isRunning(scope) && !isInspected(scope.system)) return scope.defer(relay)
    const told = { to: receiver, targetId: undefined, event, id, delay: undefined }
    performIn(this, 'xstate.sendTo', told, () => scope.defer(relay))
  }

  enqueueActions(collect: Collect, params: unknown): void {
    collectAndRun(this, collect, this.args, params)
  }

  check(guard: unknown): boolean {
    return compileGuard(this.before.machine, guard)(this)
  }

  /** Runs an action of the chart, and reports it to inspectors. */
  perform(type: string, params: unknown, action: Exec): void {
    const { scope } = this
    if (isRunning(scope) && !isInspected(scope.system)) action?.(this.args, params)
    else performIn(this, type, params, action)
  }

  resolve(action: BuiltInAction, params: unknown): void {
    const { scope } = this
    const before = this.snapshot()
    this.raised ??= []
    const extra = { internalQueue: this.raised, deferredActorIds: undefined }
    const [after, resolved, actions] = action.resolve(scope, before, this.args, params, action, extra)
    if (after !== before) {
      this.context = after.context
      this.keep(after.children)
    }
    const { execute } = action
    if (execute !== undefined) performIn(this, action.type, resolved, () => execute(scope, resolved))
    for (const each of actions ?? []) this.at.compileAction(each)(this)
  }

  raise(event: AnyEventObject): void {
    if (this.raised === undefined) this.raised = [event]
    else this.raised.push(event)
  }

  /** Ends the chart, after a final state or a completed parallel state. */
  finish({ id, output, parent }: AnyStateNode, root: AnyStateNode): void {
    let whole: unknown
    if (root.output !== undefined) {
      const ownOutput = output === undefined || parent === undefined ? undefined : this.outputOf(output)
      whole = this.outputOf(root.output, { type: `xstate.done.state.${id}`, output: ownOutput })
    }
    this.#rest = { children: this.children, status: 'done', output: whole }
  }

  outputOf(output: unknown, event: AnyEventObject = this.event): unknown {
    return typeof output === 'function' ? output({ context: this.context, event, self: this.scope.self }) : output
  }

  /** Children end with their chart. The snapshot keeps them, as XState's does. */
  stopChildren(): void {
    const { children } = this.before
    for (const id in children)
      this.resolve(stopChild(children[id] as AnyActorRef) as unknown as BuiltInAction, undefined)
  }

  /** Whether the actions of this microstep changed anything, so that a new snapshot is needed. */
  get isChanged(): boolean {
    return this.context !== this.before.context || this.#rest !== undefined
  }

  keep(children: Content['children']): void {
    const { status, output } = this
    this.#rest = { children, status, output }
  }

  /** The same object for all actions that see the same context: most calls go through a dozen of them. */
  get args(): ActionArgs {
    const { context, event, scope } = this
    const made = this.#made
    if (made !== undefined && made.context === context && made.event === event) return made
    this.#made = new ActionArgs(context, event, scope.self)
    return this.#made
  }
}

/** Reports the action to inspectors and runs it: at once, or at the start of an actor that has not started yet. */
function performIn({ scope, args }: ChartStep, type: string, params: unknown, exec: Exec): void {
  if (!isRunning(scope)) return scope.actionExecutor({ type, info: args, params, exec } as never)
  const { self, system } = scope
  if (isInspected(system)) {
    internalsOf(system)._sendInspectionEvent({ type: '@xstate.action', actorRef: self, action: { type, params } })
  }
  exec?.(args, params)
}

/** XState's own `spawn`, which XState passes only to assigners. */
function spawnerOf(step: ChartStep): Spawn {
  let found: Spawn | undefined
  const take = assign((args) => {
    found = args.spawn as Spawn
    return {}
  }) as unknown as BuiltInAction
  const extra = { internalQueue: [], deferredActorIds: undefined }
  take.resolve(step.scope, step.snapshot(), step.args, undefined, take, extra)
  return found as unknown as Spawn
}

/** The result of an assigner, which may spawn actors. */
function resultOf<Value>(step: ChartStep, assigner: Assigner<Value>, params: unknown): Value {
  const outer = whileAssigning(step)
  try {
    return assigner(step.args, params)
  } finally {
    whileAssigning(outer)
  }
}
