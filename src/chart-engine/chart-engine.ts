import type { Actor, ActorOptions, AnyActorRef, AnyEventObject, AnyStateMachine } from 'xstate'
import type { GuardWatcher } from './guard-watch.ts'

export type EngineName = 'table' | 'xstate'

/** Runs the charts of `machines/`. Both implementations take the same steps; they differ in speed and in what they report. */
export interface ChartEngine {
  readonly name: EngineName
  /** An actor at the root of its own system. Not started. `onEnd`: its chart is done, or it was stopped. */
  createRoot<Machine extends AnyStateMachine>(
    chart: Machine,
    options: ActorOptions<Machine>,
    onEnd?: () => void,
  ): Actor<Machine>
  /** An actor in the parent's system, but outside the parent's `children`. Not started. */
  createChild(chart: AnyStateMachine, parent: AnyActorRef, id: string, input: unknown): AnyActorRef
  send(actor: AnyActorRef, event: AnyEventObject): void
  /** Returns a function that stops watching, or undefined if this engine cannot report guards. */
  watchGuards(system: AnyActorRef['system'], watcher: GuardWatcher): (() => void) | undefined
}
