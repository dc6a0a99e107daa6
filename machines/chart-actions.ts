import type { AnyActorRef, AnyEventObject, AnyStateMachine, AnyTransitionDefinition } from 'xstate'
import { type Assignment, type ChartStep, resolved } from './chart-step.ts'

type Action = AnyTransitionDefinition['actions'][number]

/** One action, looked up beforehand. It leaves its context in the step. */
export type ChartAction = (step: ChartStep) => void

/** What XState's own action creators make: functions that carry what they are to do. */
interface BuiltIn {
  readonly type: string
  readonly assignment: Assignment
  readonly to: unknown
  readonly event: unknown
  readonly collect: (step: ChartStep, params: unknown) => void
}
type Implementation = ((step: ChartStep, params: unknown) => void) & Partial<BuiltIn>

/** Runs as it does in XState, except that what can be known of it beforehand is. */
export function compileAction(machine: AnyStateMachine, action: Action): ChartAction {
  const type = typeOf(action)
  const implementation = implementationOf(machine, action)
  const paramsOf = compileParams(action)
  const { assignment, to, event, collect } = (implementation ?? {}) as BuiltIn
  switch (implementation?.type) {
    case 'xstate.assign':
      return (step) => step.assign(assignment, paramsOf(step))
    case 'xstate.sendTo':
      return (step) => {
        const params = paramsOf(step)
        step.sendTo(resolved(to, step, params) as AnyActorRef, resolved(event, step, params) as AnyEventObject)
      }
    case 'xstate.enqueueActions':
      return (step) => collect(step, paramsOf(step))
    case undefined:
      return (step) => step.perform(type, paramsOf(step), implementation)
    default:
      return () => {
        throw new Error(`The action \`${implementation?.type}\` of ${machine.id} cannot run from a table.`)
      }
  }
}

/** The parameters of an action or a guard, which may be worked out from context and event. */
export function compileParams(reference: unknown): (step: ChartStep) => unknown {
  if (typeof reference !== 'object' || reference === null) return () => undefined
  const { params } = reference as { params?: unknown }
  return typeof params === 'function' ? (step) => params(step) : () => params
}

const typeOf = (action: Action): string =>
  typeof action === 'string' ? action : typeof action === 'function' ? action.name : action.type

function implementationOf(machine: AnyStateMachine, action: Action): Implementation | undefined {
  const found = typeof action === 'function' ? action : machine.implementations.actions[typeOf(action)]
  return found as unknown as Implementation | undefined
}
