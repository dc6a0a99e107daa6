import type { AnyActorRef } from 'xstate'
import type { ChartEngine } from './chart-engine.ts'

type System = AnyActorRef['system']

const engines = new WeakMap<System, ChartEngine>()

export const rememberEngine = (system: System, engine: ChartEngine): void => {
  engines.set(system, engine)
}

/** Undefined for a system that was not started by one of our engines. */
export const engineOf = (system: System): ChartEngine | undefined => engines.get(system)

/** Whether the guards of a system can be watched. */
export const tellsGuards = (system: System): boolean => engineOf(system)?.name === 'table'
