import { type AnyEventObject, type AnyMachineSnapshot, type AnyStateMachine, type MachineContext, not } from 'xstate'

/** The arguments of a guard. */
export interface Asked {
  readonly context: MachineContext
  readonly event: AnyEventObject
  snapshot(): AnyMachineSnapshot
}

/** A compiled guard: whether a transition may be taken. */
export type ChartGuard = (asked: Asked) => boolean

type Implementation = (args: Asked, params: unknown) => boolean
interface BuiltInGuard {
  check(snapshot: AnyMachineSnapshot, args: Asked, self: unknown): boolean
}

/** A plain function is called directly; XState evaluates combined, aliased and unknown guards. */
export function compileGuard(machine: AnyStateMachine, guard: unknown): ChartGuard {
  if (typeof guard === 'function') return isPlain(guard) ? compilePlain(guard, undefined) : evaluatedByXState(guard)
  const name = typeof guard === 'string' ? guard : (guard as { type?: string } | null)?.type
  const implementation = machine.implementations.guards[name as string] as unknown
  return isPlain(implementation) ? compilePlain(implementation, guard) : evaluatedByXState(guard)
}

const isPlain = (guard: unknown): guard is Implementation => typeof guard === 'function' && !('check' in guard)

function compilePlain(implementation: Implementation, reference: unknown): ChartGuard {
  const paramsOf = compileParams(reference)
  if (paramsOf === undefined) return (asked) => implementation(asked, undefined)
  return (asked) => implementation(asked, paramsOf(asked))
}

/** `not` is the only public access to XState's guard evaluation. */
function evaluatedByXState(guard: unknown): ChartGuard {
  const negated = not(guard as never) as unknown as BuiltInGuard
  return (asked) => !negated.check(asked.snapshot(), asked, negated)
}

/** The parameters of an action or a guard; they may be a function of context and event. Undefined if it has none. */
export function compileParams(reference: unknown): ((asked: Asked) => unknown) | undefined {
  if (typeof reference !== 'object' || reference === null || !('params' in reference)) return undefined
  const { params } = reference
  return typeof params === 'function' ? (asked) => params(asked) : () => params
}
