import type {
  AnyActorRef,
  AnyActorScope,
  AnyEventObject,
  AnyStateMachine,
  AnyTransitionDefinition,
  MachineContext,
} from 'xstate'
import { internalsOf } from './xstate-internals.ts'

type Action = AnyTransitionDefinition['actions'][number]
type Args = { context: MachineContext; event: AnyEventObject; self: unknown; system: unknown }

/** What XState's own action creators make: functions that carry what they are to do. */
interface BuiltIn {
  readonly type: string
  readonly assignment?: Assignment
  readonly to?: unknown
  readonly event?: unknown
  readonly collect?: (args: Args & { enqueue: Enqueue }, params: unknown) => void
}
type Assignment = ((args: Args, params: unknown) => MachineContext) | MachineContext
type Implementation = ((args: Args, params: unknown) => void) & Partial<BuiltIn>

interface Enqueue {
  (action: Action): void
  assign(assignment: Assignment): void
  sendTo(to: unknown, event: AnyEventObject): void
}

/** Runs actions in order, as XState does, and gives back the context they leave. */
export function runActions(
  machine: AnyStateMachine,
  scope: AnyActorScope,
  actions: readonly Action[],
  before: MachineContext,
  event: AnyEventObject,
): MachineContext {
  let context = before
  for (const action of actions) {
    const args: Args = { context, event, self: scope.self, system: scope.system }
    const implementation = implementationOf(machine, action)
    const params = paramsOf(action, context, event)
    context = runOne(machine, scope, implementation, typeOf(action), args, params)
  }
  return context
}

function runOne(
  machine: AnyStateMachine,
  scope: AnyActorScope,
  implementation: Implementation,
  type: string,
  args: Args,
  params: unknown,
): MachineContext {
  switch (implementation.type) {
    case 'xstate.assign':
      return assigned(implementation.assignment as Assignment, args, params)
    case 'xstate.sendTo':
      send(scope, resolved(implementation.to, args, params), resolved(implementation.event, args, params), args)
      return args.context
    case 'xstate.enqueueActions':
      return runEnqueued(scope, implementation as BuiltIn, args, params)
    case undefined:
      scope.actionExecutor({ type, info: args as never, params: params as never, exec: implementation as never })
      return args.context
    default:
      throw new Error(`The action \`${implementation.type}\` of ${machine.id} cannot run from a table.`)
  }
}

function assigned(assignment: Assignment, args: Args, params: unknown): MachineContext {
  if (typeof assignment === 'function') return { ...args.context, ...assignment(args, params) }
  const context: MachineContext = { ...args.context }
  for (const key of Object.keys(assignment)) context[key] = resolved(assignment[key], args, params)
  return context
}

/** Deferred, as XState does it: whoever receives the event finds the sender's new snapshot. */
function send(scope: AnyActorScope, to: unknown, event: unknown, args: Args): void {
  const exec = () =>
    scope.defer(() => internalsOf(scope)._relay(scope.self, to as AnyActorRef, event as AnyEventObject))
  scope.actionExecutor({ type: 'xstate.sendTo', info: args as never, params: { to, event } as never, exec })
}

/** What is enqueued runs after the collecting function, in order. */
function runEnqueued(scope: AnyActorScope, { collect }: BuiltIn, args: Args, params: unknown): MachineContext {
  let { context } = args
  const later: (() => void)[] = []
  const enqueue = ((): never => {
    throw new Error('Only assign and sendTo can be enqueued in a chart that runs from a table.')
  }) as unknown as Enqueue
  enqueue.assign = (assignment) => later.push(() => (context = assigned(assignment, { ...args, context }, undefined)))
  enqueue.sendTo = (to, event) => later.push(() => send(scope, to, event, args))
  collect?.({ ...args, enqueue }, params)
  for (const run of later) run()
  return context
}

const resolved = (value: unknown, args: Args, params: unknown): unknown =>
  typeof value === 'function' ? value(args, params) : value

const typeOf = (action: Action): string =>
  typeof action === 'string' ? action : typeof action === 'function' ? action.name : action.type

function implementationOf(machine: AnyStateMachine, action: Action): Implementation {
  const found = typeof action === 'function' ? action : machine.implementations.actions[typeOf(action)]
  return found as unknown as Implementation
}

/** The parameters of an action or a guard, which may be worked out from context and event. */
export function paramsOf(reference: unknown, context: MachineContext, event: AnyEventObject): unknown {
  if (typeof reference !== 'object' || reference === null) return undefined
  const { params } = reference as { params?: unknown }
  return typeof params === 'function' ? params({ context, event }) : params
}
