import type {
  AnyActorRef,
  AnyActorScope,
  AnyEventObject,
  AnyStateMachine,
  AnyTransitionDefinition,
  MachineContext,
} from 'xstate'
import { internalsOf, isRunning } from './xstate-internals.ts'

type Action = AnyTransitionDefinition['actions'][number]

/** What guards and actions are given. One for a whole step: its context is that of the action which runs next. */
export interface ChartArgs {
  context: MachineContext
  readonly event: AnyEventObject
  readonly self: AnyActorRef
  readonly system: unknown
}

/** One action, looked up beforehand. It leaves its context in the arguments. */
export type ChartAction = (args: ChartArgs, scope: AnyActorScope) => void

/** What XState's own action creators make: functions that carry what they are to do. */
interface BuiltIn {
  readonly type: string
  readonly assignment?: Assignment
  readonly to?: unknown
  readonly event?: unknown
  readonly collect?: (args: ChartArgs & { enqueue: Enqueue }, params: unknown) => void
}
type Assignment = ((args: ChartArgs, params: unknown) => MachineContext) | MachineContext
type Implementation = ((args: ChartArgs, params: unknown) => void) & Partial<BuiltIn>

/** Runs as it does in XState, except that what can be known of it beforehand is. */
export function compileAction(machine: AnyStateMachine, action: Action): ChartAction {
  const type = typeOf(action)
  const implementation = implementationOf(machine, action)
  const paramsOf = compileParams(action)
  switch (implementation?.type) {
    case 'xstate.assign':
      return compileAssign(implementation.assignment as Assignment, paramsOf)
    case 'xstate.sendTo':
      return compileSendTo(implementation as BuiltIn, paramsOf)
    case 'xstate.enqueueActions':
      return compileEnqueue(implementation as BuiltIn, paramsOf)
    case undefined:
      return (args, scope) => perform(scope, type, args, paramsOf(args), implementation)
    default:
      return () => {
        throw new Error(`The action \`${implementation?.type}\` of ${machine.id} cannot run from a table.`)
      }
  }
}

/** The parameters of an action or a guard, which may be worked out from context and event. */
export function compileParams(reference: unknown): (args: ChartArgs) => unknown {
  if (typeof reference !== 'object' || reference === null) return () => undefined
  const { params } = reference as { params?: unknown }
  return typeof params === 'function' ? (args) => params(args) : () => params
}

function compileAssign(assignment: Assignment, paramsOf: (args: ChartArgs) => unknown): ChartAction {
  return (args) => {
    args.context = assigned(assignment, args, paramsOf(args))
  }
}

function compileSendTo({ to, event }: BuiltIn, paramsOf: (args: ChartArgs) => unknown): ChartAction {
  return (args, scope) => {
    const params = paramsOf(args)
    send(scope, args, resolved(to, args, params) as AnyActorRef, resolved(event, args, params) as AnyEventObject)
  }
}

/** What is enqueued runs after the collecting function, in order. */
function compileEnqueue({ collect }: BuiltIn, paramsOf: (args: ChartArgs) => unknown): ChartAction {
  return (args, scope) => {
    const enqueue = new Enqueue()
    const { context, event, self, system } = args
    collect?.({ context, event, self, system, enqueue }, paramsOf(args))
    enqueue.run(args, scope)
  }
}

/** Only what the charts here enqueue; whoever calls it as a function gets a `TypeError`. */
class Enqueue {
  #assignments: MachineContext[] | undefined
  #letters: { to: AnyActorRef; event: AnyEventObject }[] | undefined

  assign(assignment: MachineContext): void {
    if (this.#letters !== undefined) throw new Error('A chart that runs from a table assigns before it sends.')
    this.#assignments ??= []
    this.#assignments.push(assignment)
  }

  sendTo(to: AnyActorRef, event: AnyEventObject): void {
    this.#letters ??= []
    this.#letters.push({ to, event })
  }

  run(args: ChartArgs, scope: AnyActorScope): void {
    if (this.#assignments !== undefined)
      for (const each of this.#assignments) args.context = assigned(each, args, undefined)
    if (this.#letters !== undefined) for (const { to, event } of this.#letters) send(scope, args, to, event)
  }
}

function assigned(assignment: Assignment, args: ChartArgs, params: unknown): MachineContext {
  if (typeof assignment === 'function') return { ...args.context, ...assignment(args, params) }
  const context: MachineContext = { ...args.context }
  for (const key in assignment) context[key] = resolved(assignment[key], args, params)
  return context
}

/** Deferred, as XState does it: whoever receives the event finds the sender's new snapshot. */
function send(scope: AnyActorScope, args: ChartArgs, to: AnyActorRef, event: AnyEventObject): void {
  perform(scope, 'xstate.sendTo', args, { to, event }, () =>
    scope.defer(() => internalsOf(scope)._relay(scope.self, to, event)),
  )
}

/** Tells who looks on, and runs it: at once, or, for the actions of an actor that has not started, when it does. */
function perform(
  scope: AnyActorScope,
  type: string,
  args: ChartArgs,
  params: unknown,
  exec: ((args: ChartArgs, params: unknown) => void) | undefined,
): void {
  if (!isRunning(scope.self)) {
    const { context, event, self, system } = args
    const info = { context, event, self, system }
    scope.actionExecutor({ type, info: info as never, params: params as never, exec: exec as never })
    return
  }
  internalsOf(scope)._sendInspectionEvent({ type: '@xstate.action', actorRef: scope.self, action: { type, params } })
  exec?.(args, params)
}

const resolved = (value: unknown, args: ChartArgs, params: unknown): unknown =>
  typeof value === 'function' ? value(args, params) : value

const typeOf = (action: Action): string =>
  typeof action === 'string' ? action : typeof action === 'function' ? action.name : action.type

function implementationOf(machine: AnyStateMachine, action: Action): Implementation | undefined {
  const found = typeof action === 'function' ? action : machine.implementations.actions[typeOf(action)]
  return found as unknown as Implementation | undefined
}
