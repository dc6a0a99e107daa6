import type {
  AnyActorScope,
  AnyEventObject,
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyTransitionDefinition,
  MachineContext,
} from 'xstate'
import { ChartStep } from './chart-step.ts'
import { ChartTable, type Configuration, type Move, type Moves, type Regions } from './chart-table.ts'
import { guardsAreWatched, tellGuardWatchers } from './guard-watch.ts'
import { internalsOf, isInspected } from './xstate-internals.ts'

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
const isForXState = (eventType: string): boolean =>
  eventType.charCodeAt(0) === 120 && (eventType === 'xstate.stop' || eventType.startsWith('xstate.error'))

const none: readonly AnyTransitionDefinition[] = []

class ChartRunner {
  readonly #compiled: AnyStateMachine
  readonly #table: ChartTable
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
    const { actions, next } = this.#table.initial
    try {
      const step = new ChartStep(scope, { type: 'xstate.init', input }, contextOf(this.#compiled, scope, input))
      for (const action of actions) action(step)
      return this.#settle(this.#snapshot(next, step.context), next, step)
    } catch (error) {
      return { ...this.#snapshot(next, {}), status: 'error', error } as AnyMachineSnapshot
    }
  }

  step(snapshot: AnyMachineSnapshot, event: AnyEventObject, scope: AnyActorScope): AnyMachineSnapshot {
    const from = this.#table.configurationOf(snapshot)
    const step = new ChartStep(scope, event, snapshot.context)
    const to = this.#move(from, from.movesOn(event.type), step)
    if (to === undefined) this.#tell(snapshot, step)
    return this.#settle(to === undefined ? snapshot : this.#arrive(snapshot, from, to, step), to ?? from, step)
  }

  /** Takes eventless transitions until there are none, or until one changes nothing. */
  #settle(begun: AnyMachineSnapshot, at: Configuration, step: ChartStep): AnyMachineSnapshot {
    let snapshot = begun
    let from = at
    while (from.eventless.length > 0 && !from.isDone) {
      const to = this.#move(from, from.eventless, step)
      if (to === undefined) break
      const next = this.#arrive(snapshot, from, to, step)
      if (next === snapshot) break
      snapshot = next
      from = to
    }
    return snapshot
  }

  /** Runs the actions of the transitions that may be taken, and says where they lead. */
  #move(from: Configuration, regions: Regions, step: ChartStep): Configuration | undefined {
    if (regions.length > 1) return this.#moveTogether(from, regions, step)
    const move = regions.length === 0 ? undefined : firstOpen(regions[0] as Moves, step)
    step.taken = move === undefined ? none : move.taken
    if (guardsAreWatched()) tellGuardWatchers(step, regions)
    if (move === undefined) return undefined
    for (const action of move.effect.actions) action(step)
    return move.effect.next
  }

  /** Regions that answer the same event each make their own move, in the order of the chart. */
  #moveTogether(from: Configuration, regions: Regions, step: ChartStep): Configuration | undefined {
    const open = regions.map((moves) => firstOpen(moves, step)).filter((move) => move !== undefined)
    step.taken = [...new Set(open.map(({ transition }) => transition))]
    if (guardsAreWatched()) tellGuardWatchers(step, regions)
    let configuration: Configuration | undefined
    for (const transition of step.taken) {
      const { actions, next } = (configuration ?? from).moveBy(transition).effect
      for (const action of actions) action(step)
      configuration = next
    }
    return configuration
  }

  #arrive(before: AnyMachineSnapshot, from: Configuration, to: Configuration, step: ChartStep): AnyMachineSnapshot {
    const isSame = to === from && step.context === before.context
    const snapshot = isSame ? before : this.#snapshot(to, step.context)
    this.#tell(snapshot, step)
    return snapshot
  }

  #tell(snapshot: AnyMachineSnapshot, { scope, event, taken }: ChartStep): void {
    if (isInspected(scope.system))
      internalsOf(scope.system)._sendInspectionEvent({
        type: '@xstate.microstep',
        actorRef: scope.self,
        event,
        snapshot,
        _transitions: taken,
      })
  }

  #snapshot({ nodes, value, tags, isDone }: Configuration, context: MachineContext): AnyMachineSnapshot {
    const { output, error, children, historyValue, matches, hasTag, can, getMeta, toJSON } = this.#template()
    return {
      status: isDone ? 'done' : 'active',
      output,
      error,
      machine: this.#compiled,
      context,
      _nodes: nodes,
      value,
      tags,
      children,
      historyValue,
      matches,
      hasTag,
      can,
      getMeta,
      toJSON,
    } as AnyMachineSnapshot
  }
}

/** The first transition of a region whose guard lets it pass. */
function firstOpen(moves: Moves, step: ChartStep): Move | undefined {
  for (const move of moves) if (move.isOpen(step)) return move
  return undefined
}

function contextOf(machine: AnyStateMachine, scope: AnyActorScope, input: unknown): MachineContext {
  const { context } = machine.config as { context?: unknown }
  return typeof context === 'function' ? context({ input, self: scope.self }) : (context ?? {})
}
