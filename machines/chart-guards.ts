import type { AnyStateMachine } from 'xstate'
import { type ChartArgs, compileParams } from './chart-actions.ts'

/** Whether a transition may be taken, asked with what was looked up beforehand. */
export type ChartGuard = (args: ChartArgs) => boolean
type Implementation = (args: ChartArgs, params: unknown) => boolean

export const alwaysOpen: ChartGuard = () => true

/** A guard as it stands in a definition: none, a function, a name, or a name with parameters. */
export function compileGuard(machine: AnyStateMachine, guard: unknown): ChartGuard {
  if (guard === undefined) return alwaysOpen
  if (typeof guard === 'function') return (args) => (guard as Implementation)(args, undefined)
  const name = typeof guard === 'string' ? guard : (guard as { type: string }).type
  const implementation = machine.implementations.guards[name] as unknown as Implementation
  const paramsOf = compileParams(guard)
  return (args) => implementation(args, paramsOf(args))
}
