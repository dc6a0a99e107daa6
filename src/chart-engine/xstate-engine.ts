import { type Actor, type ActorOptions, type AnyActorRef, type AnyStateMachine, createActor } from 'xstate'
import { type ChartEngine, notPersistable, rememberEngine } from './chart-engine.ts'

/** XState accepts a parent, but its types hide it. */
export const createChildActor = (
  chart: AnyStateMachine,
  parent: AnyActorRef,
  id: string,
  input: unknown,
): AnyActorRef => notPersistable(createActor(chart, { parent, id, input } as never))

export const xstateEngine: ChartEngine = {
  name: 'xstate',
  createRoot<Machine extends AnyStateMachine>(
    chart: Machine,
    options: ActorOptions<Machine>,
    onEnd?: () => void,
  ): Actor<Machine> {
    const root = notPersistable(createActor(chart, options as never) as Actor<Machine>)
    rememberEngine(root.system, xstateEngine)
    if (onEnd !== undefined) root.subscribe({ complete: onEnd })
    return root
  },
  createChild: createChildActor,
  send: (actor, event) => actor.send(event),
  watchGuards: () => undefined,
}
