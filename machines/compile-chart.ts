import type {
  AnyActorScope,
  AnyEventObject,
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyTransitionDefinition,
  MachineContext,
} from 'xstate'
import type { ChartArgs } from './chart-actions.ts'
import { ChartTable, type Configuration, type Move, type Regions } from './chart-table.ts'
import { guardsAreWatched, tellGuardWatchers } from './guard-watch.ts'
import { internalsOf } from './xstate-internals.ts'

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
const noMoves: readonly Move[] = []

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
      const args = argsOf(scope, { type: 'xstate.init', input }, contextOf(this.#compiled, scope, input))
      for (const action of actions) action(args, scope)
      return this.#settle(this.#snapshot(next, args.context), next, args, scope)
    } catch (error) {
      return { ...this.#snapshot(next, {}), status: 'error', error } as AnyMachineSnapshot
    }
  }

  step(snapshot: AnyMachineSnapshot, event: AnyEventObject, scope: AnyActorScope): AnyMachineSnapshot {
    const configuration = this.#table.configurationOf(snapshot)
    const args = argsOf(scope, event, snapshot.context)
    const moved = this.#move(snapshot, configuration, configuration.movesOn(event.type), args, scope)
    if (moved !== undefined) return this.#settle(moved, this.#table.configurationOf(moved), args, scope)
    this.#tellStep(snapshot, none, args, scope)
    return this.#settle(snapshot, configuration, args, scope)
  }

  /** Takes eventless transitions until there are none, or until one changes nothing. */
  #settle(
    from: AnyMachineSnapshot,
    configuration: Configuration,
    args: ChartArgs,
    scope: AnyActorScope,
  ): AnyMachineSnapshot {
    let snapshot = from
    let current = configuration
    while (current.eventless.length > 0 && snapshot.status === 'active') {
      const next = this.#move(snapshot, current, current.eventless, args, scope)
      if (next === undefined || next === snapshot) break
      snapshot = next
      current = this.#table.configurationOf(next)
    }
    return snapshot
  }

  /** One microstep; undefined where no transition may be taken. */
  #move(
    snapshot: AnyMachineSnapshot,
    configuration: Configuration,
    regions: Regions,
    args: ChartArgs,
    scope: AnyActorScope,
  ): AnyMachineSnapshot | undefined {
    if (regions.length > 1) return this.#moveTogether(snapshot, configuration, regions, args, scope)
    const move = firstOpen(regions[0] ?? noMoves, args)
    if (guardsAreWatched()) tellGuardWatchers(scope, args.event, regions, move?.taken ?? none)
    if (move === undefined) return undefined
    const { actions, next } = move.effect
    for (const action of actions) action(args, scope)
    return this.#arrive(snapshot, configuration, next, move.taken, args, scope)
  }

  /** Regions that answer the same event each make their own move, in the order of the chart. */
  #moveTogether(
    snapshot: AnyMachineSnapshot,
    before: Configuration,
    regions: Regions,
    args: ChartArgs,
    scope: AnyActorScope,
  ): AnyMachineSnapshot | undefined {
    const found = regions.map((moves) => firstOpen(moves, args))
    const taken = [
      ...new Set(found.filter((move): move is Move => move !== undefined).map(({ transition }) => transition)),
    ]
    if (guardsAreWatched()) tellGuardWatchers(scope, args.event, regions, taken)
    if (taken.length === 0) return undefined
    let configuration = before
    for (const transition of taken) {
      const { actions, next } = configuration.moveBy(transition).effect
      for (const action of actions) action(args, scope)
      configuration = next
    }
    return this.#arrive(snapshot, before, configuration, taken, args, scope)
  }

  #arrive(
    from: AnyMachineSnapshot,
    before: Configuration,
    after: Configuration,
    taken: readonly AnyTransitionDefinition[],
    args: ChartArgs,
    scope: AnyActorScope,
  ): AnyMachineSnapshot {
    const isSame = after === before && args.context === from.context
    const snapshot = isSame ? from : this.#snapshot(after, args.context)
    this.#tellStep(snapshot, taken, args, scope)
    return snapshot
  }

  #tellStep(
    snapshot: AnyMachineSnapshot,
    taken: readonly AnyTransitionDefinition[],
    { event }: ChartArgs,
    scope: AnyActorScope,
  ): void {
    internalsOf(scope)._sendInspectionEvent({
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
function firstOpen(moves: readonly Move[], args: ChartArgs): Move | undefined {
  for (const move of moves) if (move.isOpen(args)) return move
  return undefined
}

const argsOf = ({ self, system }: AnyActorScope, event: AnyEventObject, context: MachineContext): ChartArgs => ({
  context,
  event,
  self,
  system,
})

function contextOf(machine: AnyStateMachine, scope: AnyActorScope, input: unknown): MachineContext {
  const { context } = machine.config as { context?: unknown }
  return typeof context === 'function' ? context({ input, self: scope.self }) : (context ?? {})
}
