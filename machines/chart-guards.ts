import type { AnyStateMachine } from 'xstate'
import { compileParams } from './chart-actions.ts'
import type { ChartStep } from './chart-step.ts'

/** Whether a transition may be taken, asked with what was looked up beforehand. */
export type ChartGuard = (step: ChartStep) => boolean
type Implementation = (step: ChartStep, params: unknown) => boolean

export const alwaysOpen: ChartGuard = () => true

/** A guard as it stands in a definition: none, a function, a name, or a name with parameters. */
export function compileGuard(machine: AnyStateMachine, guard: unknown): ChartGuard {
  if (guard === undefined) return alwaysOpen
  if (typeof guard === 'function') return (step) => (guard as Implementation)(step, undefined)
  const name = typeof guard === 'string' ? guard : (guard as { type: string }).type
  const implementation = machine.implementations.guards[name] as unknown as Implementation
  const paramsOf = compileParams(guard)
  return (step) => implementation(step, paramsOf(step))
}
