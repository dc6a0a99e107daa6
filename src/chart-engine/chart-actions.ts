import { type AnyStateMachine, type AnyTransitionDefinition, sendTo } from 'xstate'
import { compileParams } from './chart-guards.ts'
import type { Assignment, BuiltInAction, ChartStep, Collect, Resolvable } from './chart-step.ts'

type Action = AnyTransitionDefinition['actions'][number]

/** A compiled action. It stores its changes in the step. */
export type ChartAction = (step: ChartStep) => void
type ActionWithParams = (step: ChartStep, params?: unknown) => void

/** The fields of XState's built-in action creators. */
interface Carried {
  readonly assignment: Assignment
  readonly collect: Collect
  readonly to: Resolvable
  readonly event: Resolvable
  readonly id: string | undefined
  readonly delay: unknown
}
type Implementation = Partial<BuiltInAction & Carried> | undefined

/** Does what XState does. The most used actions are implemented here; XState resolves the others. */
export function compileAction(machine: AnyStateMachine, action: Action): ChartAction {
  const implementation = (typeof action === 'function'
    ? action
    : machine.implementations.actions[nameOf(action)]) as unknown as Implementation
  const run = compileImplementation(nameOf(action), implementation)
  const paramsOf = compileParams(action)
  return paramsOf === undefined ? run : (step) => run(step, paramsOf(step))
}

function compileImplementation(type: string, implementation: Implementation): ActionWithParams {
  if (implementation === undefined || !('resolve' in implementation)) {
    return (step, params) => step.perform(type, params, implementation as never)
  }
  const builtIn = implementation as BuiltInAction & Carried
  switch (builtIn.type) {
    case 'xstate.assign':
      return (step, params) => step.assign(builtIn.assignment, params)
    case 'xstate.enqueueActions':
      return (step, params) => step.enqueueActions(builtIn.collect, params)
    case 'xstate.sendTo': {
      const { to, event, id, delay } = builtIn
      if (delay === undefined && typeof event !== 'string') {
        return (step, params) => step.sendTo(to, event, id, params)
      }
    }
  }
  return (step, params) => step.resolve(builtIn, params)
}

const nameOf = (action: Action): string =>
  typeof action === 'string' ? action : typeof action === 'function' ? action.name || '(anonymous)' : action.type

/** A `sendTo` with known arguments; XState finds the receiver. */
export const sendToKnown = (target: unknown, event: unknown, id: string | undefined): BuiltInAction =>
  sendTo(target as never, event as never, { id } as never) as unknown as BuiltInAction
