import type { ActorSystem, AnyStateMachine, AnyStateNode, AnyTransitionDefinition, InspectionEvent } from 'xstate'

export interface ChartTransition {
  /** Where it stands, for people: `call.queued --call.start[0]→ call.executing.validating`. */
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

/** Remembers which transitions the actors of a system take. */
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
