import type { ActorSystem, AnyStateMachine, AnyStateNode, AnyTransitionDefinition, InspectionEvent } from 'xstate'

export interface ChartTransition {
  readonly name: string
  readonly definition: AnyTransitionDefinition
}

/** Every transition of a chart, in document order. A forbidden one (`{}`) counts: it refuses on purpose. */
export function transitionsOf(machine: AnyStateMachine): ChartTransition[] {
  return nodesOf(machine.root).flatMap((node) => {
    const lists = [...node.transitions.values(), ...(node.always === undefined ? [] : [node.always])]
    return lists.flatMap((list) =>
      list.map((definition, index) => ({ name: nameOf(node, definition, index), definition })),
    )
  })
}

function nodesOf(node: AnyStateNode): AnyStateNode[] {
  return [node, ...Object.values(node.states).flatMap((child) => nodesOf(child as AnyStateNode))]
}

function nameOf(node: AnyStateNode, { eventType, target }: AnyTransitionDefinition, index: number): string {
  const to = target?.map(({ id }) => id).join(', ') ?? '(stays)'
  return `${node.id} --${eventType === '' ? 'always' : eventType}[${index}]→ ${to}`
}

/** Records each step of the actors of a system: the actor, the event and the transitions. */
export function recordSteps(system: ActorSystem<never>): unknown[][] {
  const steps: unknown[][] = []
  system.inspect((event: InspectionEvent) => {
    if (event.type === '@xstate.microstep' && event._transitions.length > 0) {
      steps.push([idOf(event.actorRef), event.event.type, ...event._transitions.map(stepName)])
    } else if (event.type === '@xstate.action') steps.push([idOf(event.actorRef), event.action.type])
    else if (event.type === '@xstate.snapshot') {
      const { status, value } = event.snapshot as { status: string; value?: unknown }
      steps.push([idOf(event.actorRef), 'is', event.event.type, status, value])
    } else if (event.type === '@xstate.actor') steps.push([idOf(event.actorRef), 'made'])
    else if (event.type === '@xstate.event') steps.push([idOf(event.sourceRef), idOf(event.actorRef), event.event.type])
  })
  return steps
}

const idOf = (ref: unknown): unknown => (ref as { id?: unknown } | undefined)?.id

const stepName = ({ source, eventType, target }: AnyTransitionDefinition): string =>
  `${source.id} ${eventType} ${target?.map(({ id }) => id).join() ?? ''}`

/** Records which transitions the actors of a system take. */
export class TakenTransitions {
  readonly #taken = new Set<unknown>()

  watch(system: ActorSystem<never>): void {
    system.inspect((event: InspectionEvent) => {
      if (event.type === '@xstate.microstep') for (const transition of event._transitions) this.#taken.add(transition)
    })
  }

  missing(machine: AnyStateMachine): string[] {
    return transitionsOf(machine)
      .filter(({ definition }) => !this.#taken.has(definition))
      .map(({ name }) => name)
  }
}
