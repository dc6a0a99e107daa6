import type {
  AnyActorScope,
  AnyEventObject,
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyTransitionDefinition,
  MachineContext,
} from 'xstate'
import { paramsOf, runActions } from './chart-actions.ts'
import { ChartTable, type Configuration } from './chart-table.ts'
import { tellGuardWatchers } from './guard-watch.ts'
import { internalsOf } from './xstate-internals.ts'

type Guard = (args: { context: MachineContext; event: AnyEventObject }, params: unknown) => boolean

/**
 * The same machine, run from a table: states, transitions, guards, actions and inspection events are those of the
 * definition, but what XState works out at every step is worked out once. Everything else is inherited.
 */
export function compileChart<Machine extends AnyStateMachine>(machine: Machine): Machine {
  const compiled: Machine = Object.create(machine)
  const runner = new ChartRunner(compiled, machine)
  return Object.assign(compiled, {
    getInitialSnapshot: (scope: AnyActorScope, input: unknown) => runner.begin(scope, input),
    transition: (snapshot: AnyMachineSnapshot, event: AnyEventObject, scope: AnyActorScope) =>
      isForXState(event.type) ? machine.transition(snapshot, event, scope) : runner.step(snapshot, event, scope),
  })
}

/** Stops and errors of actors are rare, and XState's business. */
const isForXState = (eventType: string): boolean => eventType === 'xstate.stop' || eventType.startsWith('xstate.error')

class ChartRunner {
  readonly #compiled: AnyStateMachine
  readonly #table: ChartTable
  readonly #configurations = new WeakMap<object, Configuration>()
  /** A snapshot as XState makes it; ours differ only in what a step can change. */
  readonly #template: () => AnyMachineSnapshot

  constructor(compiled: AnyStateMachine, machine: AnyStateMachine) {
    this.#compiled = compiled
    this.#table = new ChartTable(machine)
    let template: AnyMachineSnapshot | undefined
    this.#template = () => {
      template ??= machine.resolveState({ value: this.#table.initial.next.value, context: {} } as never)
      return template
    }
  }

  begin(scope: AnyActorScope, input: unknown): AnyMachineSnapshot {
    const event = { type: 'xstate.init', input }
    const { actions, next } = this.#table.initial
    try {
      const given = contextOf(this.#compiled, scope, input)
      const context = runActions(this.#compiled, scope, actions, given, event)
      return this.#settle(this.#snapshot(next, context), event, scope)
    } catch (error) {
      return { ...this.#snapshot(next, {}), status: 'error', error } as AnyMachineSnapshot
    }
  }

  step(snapshot: AnyMachineSnapshot, event: AnyEventObject, scope: AnyActorScope): AnyMachineSnapshot {
    const configuration = this.#configurationOf(snapshot)
    const candidates = this.#table.candidatesFor(configuration, event.type)
    const enabled = this.#enabled(candidates, snapshot.context, event, scope)
    return this.#settle(this.#take(snapshot, enabled, event, scope), event, scope)
  }

  /** Takes eventless transitions until there are none, or until one changes nothing. */
  #settle(from: AnyMachineSnapshot, event: AnyEventObject, scope: AnyActorScope): AnyMachineSnapshot {
    let snapshot = from
    while (snapshot.status === 'active') {
      const enabled = this.#enabled(this.#configurationOf(snapshot).eventless, snapshot.context, event, scope)
      if (enabled.length === 0) break
      const next = this.#take(snapshot, enabled, event, scope)
      if (next === snapshot) break
      snapshot = next
    }
    return snapshot
  }

  /** The first transition of each region whose guard lets it pass. */
  #enabled(
    regions: readonly (readonly AnyTransitionDefinition[])[],
    context: MachineContext,
    event: AnyEventObject,
    scope: AnyActorScope,
  ): AnyTransitionDefinition[] {
    const enabled: AnyTransitionDefinition[] = []
    for (const candidates of regions) {
      const found = candidates.find(({ guard }) => guard === undefined || this.#passes(guard, context, event))
      if (found !== undefined && !enabled.includes(found)) enabled.push(found)
    }
    tellGuardWatchers(scope.system, scope.self, event, regions, enabled)
    return enabled
  }

  #passes(guard: unknown, context: MachineContext, event: AnyEventObject): boolean {
    if (typeof guard === 'function') return (guard as Guard)({ context, event }, undefined)
    const name = typeof guard === 'string' ? guard : (guard as { type: string }).type
    const implementation = this.#compiled.implementations.guards[name] as unknown as Guard
    return implementation({ context, event }, paramsOf(guard, context, event))
  }

  /** One microstep. Regions that answer the same event each make their own move. */
  #take(
    snapshot: AnyMachineSnapshot,
    transitions: readonly AnyTransitionDefinition[],
    event: AnyEventObject,
    scope: AnyActorScope,
  ): AnyMachineSnapshot {
    const before = this.#configurationOf(snapshot)
    let configuration = before
    let { context } = snapshot
    for (const transition of transitions) {
      const move = this.#table.moveFor(configuration, transition)
      context = runActions(this.#compiled, scope, move.actions, context, event)
      configuration = move.next
    }
    const isSame = configuration === before && context === snapshot.context
    const next = isSame ? snapshot : this.#snapshot(configuration, context)
    internalsOf(scope)._sendInspectionEvent({
      type: '@xstate.microstep',
      actorRef: scope.self,
      event,
      snapshot: next,
      _transitions: transitions,
    })
    return next
  }

  #configurationOf(snapshot: AnyMachineSnapshot): Configuration {
    const known = this.#configurations.get(snapshot._nodes)
    if (known === undefined) throw new Error(`This snapshot of ${this.#compiled.id} was not made by the table.`)
    return known
  }

  #snapshot(configuration: Configuration, context: MachineContext): AnyMachineSnapshot {
    const { nodes, value, tags, isDone } = configuration
    if (!this.#configurations.has(nodes)) this.#configurations.set(nodes, configuration)
    return {
      ...this.#template(),
      machine: this.#compiled,
      status: isDone ? 'done' : 'active',
      context,
      _nodes: nodes,
      value,
      tags,
    } as AnyMachineSnapshot
  }
}

function contextOf(machine: AnyStateMachine, scope: AnyActorScope, input: unknown): MachineContext {
  const { context } = machine.config as { context?: unknown }
  return typeof context === 'function' ? context({ input, self: scope.self }) : (context ?? {})
}
