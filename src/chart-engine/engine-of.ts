import type { AnyActorRef } from 'xstate'
import type { ChartEngine } from './chart-engine.ts'

type System = AnyActorRef['system']

/** On the system itself: a WeakMap with an entry for every turn costs the garbage collector more than the turn. */
const key = Symbol('signalbox.engine')
interface Remembering {
  [key]?: ChartEngine
}

export const rememberEngine = (system: System, engine: ChartEngine): void => {
  ;(system as Remembering)[key] = engine
}

/** Undefined for a system that none of our engines started. */
export const engineOf = (system: System): ChartEngine | undefined => (system as Remembering)[key]

/** Whether the guards of a system can be watched. */
export const tellsGuards = (system: System): boolean => engineOf(system)?.name === 'table'
