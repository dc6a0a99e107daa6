import type {
  AnyActorScope,
  AnyEventObject,
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyTransitionDefinition,
  MachineContext,
} from 'xstate'
import { ChartStep } from './chart-step.ts'
import { ChartTable } from './chart-table.ts'
import { isBranch, type Moves, type Selection } from './configuration.ts'
import { guardsAreWatched, tellGuardWatchers } from './guard-watch.ts'
import type { Effect, Move } from './move.ts'
import { internalsOf, isInspected, wholeScope } from './xstate-internals.ts'

/**
 * Compiles a machine to a table. States, transitions, guards, actions and inspection events stay the same, but what XState
 * computes at every step is computed once. Everything else is inherited. Throws an error that names the feature if the
 * chart uses one that a table does not support.
 */
export function compileChart<Machine extends AnyStateMachine>(machine: Machine): Machine {
  const compiled: Machine = Object.create(machine)
  const runner = new ChartRunner(compiled, machine)
  return Object.assign(compiled, {
    getInitialSnapshot: (scope: AnyActorScope, input: unknown) => runner.begin(scope, input),
    transition: (snapshot: AnyMachineSnapshot, event: AnyEventObject, scope: AnyActorScope) =>
      isForXState(event) ? machine.transition(snapshot, event, wholeScope(scope)) : runner.step(snapshot, event, scope),
    restoreSnapshot: (...given: Parameters<AnyStateMachine['restoreSnapshot']>) =>
      Object.assign(machine.restoreSnapshot(...given), { machine: compiled }),
  })
}

/** Stops and errors of actors are rare, so XState handles them; it also handles invalid events. */
function isForXState({ type }: AnyEventObject): boolean {
  if (typeof type !== 'string' || type === '*') return true
  if (type.charCodeAt(0) !== 120) return false
  return type === 'xstate.stop' || type === 'xstate.init' || type.startsWith('xstate.error')
}

/** The transitions of one microstep. */
type Taken = readonly AnyTransitionDefinition[]
const none: Taken = []

class ChartRunner {
  readonly #table: ChartTable

  constructor(compiled: AnyStateMachine, machine: AnyStateMachine) {
    this.#table = new ChartTable(machine, compiled)
  }

  begin(scope: AnyActorScope, input: unknown): AnyMachineSnapshot {
    const { initial, unentered, blank } = this.#table
    const { context } = this.#table.machine.config as { context?: unknown }
    const step = new ChartStep(scope, { type: 'xstate.init', input }, unentered, blank)
    // the state before any state is entered, in case entering fails
    let begun: MachineContext = {}
    let { children } = step
    try {
      step.begins(context, input)
      begun = step.context
      children = step.children
      for (const action of initial.actions) action(step)
      step.arriveAt(initial.next)
      return this.#settle(step)
    } catch (error) {
      const before = unentered.snapshotOf({ context: begun, children, status: 'active', output: undefined })
      return { ...before, status: 'error', error } as AnyMachineSnapshot
    }
  }

  step(snapshot: AnyMachineSnapshot, event: AnyEventObject, scope: AnyActorScope): AnyMachineSnapshot {
    const step = new ChartStep(scope, event, this.#table.configurationOf(snapshot), snapshot)
    this.#answer(step)
    return this.#settle(step)
  }

  /** Takes eventless transitions until there are none or one changes nothing, then raised events, and repeats. */
  #settle(step: ChartStep): AnyMachineSnapshot {
    let isAsked = true
    while (step.before.status === 'active') {
      const { before } = step
      if (isAsked && step.at.eventless.length > 0 && this.#moveOn(step)) {
        isAsked = step.before !== before
        continue
      }
      const raised = step.raised?.shift()
      if (raised === undefined) return step.before
      step.event = raised
      this.#answer(step)
      isAsked = true
    }
    step.stopChildren()
    return step.before
  }

  /** The microstep for an event; reported even if no transition is taken. */
  #answer(step: ChartStep): void {
    const selection = step.at.movesOn(step.event.type)
    this.#tell(step, isBranch(selection) ? this.#takeTogether(step, selection) : this.#take(step, selection))
  }

  #take(step: ChartStep, moves: Moves): Taken {
    const move = moves.length === 0 ? undefined : firstOpen(moves, step)
    const taken = move === undefined ? none : move.taken
    if (guardsAreWatched() && moves.length > 0) tellGuardWatchers(step, moves, taken)
    if (move !== undefined) this.#run(step, move.effect)
    return taken
  }

  /** Regions that answer the same event each make their own move. */
  #takeTogether(step: ChartStep, selection: Selection): Taken {
    const taken = openMoves(selection, step).map(({ transition }) => transition)
    if (guardsAreWatched()) tellGuardWatchers(step, selection, taken)
    if (taken.length > 0) this.#run(step, step.at.effectOf(taken))
    return taken
  }

  #run(step: ChartStep, { actions, next }: Effect): void {
    for (const action of actions) action(step)
    step.arriveAt(next)
  }

  /** Takes one eventless microstep, if there is one. */
  #moveOn(step: ChartStep): boolean {
    const { eventless } = step.at
    const taken = eventless.length === 1 ? this.#take(step, eventless[0] as Moves) : this.#takeFromEach(step, eventless)
    if (taken.length === 0) return false
    this.#tell(step, taken)
    return true
  }

  #takeFromEach(step: ChartStep, eventless: readonly Moves[]): Taken {
    const open = new Set<AnyTransitionDefinition>()
    for (const moves of eventless) {
      const move = firstOpen(moves, step)
      if (move !== undefined) open.add(move.transition)
    }
    const taken = open.size === 0 ? none : step.at.effectOf([...open]).transitions
    if (guardsAreWatched()) tellGuardWatchers(step, eventless, taken)
    if (open.size > 0) this.#run(step, step.at.effectOf(taken))
    return taken
  }

  #tell({ scope, event, before }: ChartStep, taken: Taken): void {
    if (isInspected(scope.system))
      internalsOf(scope.system)._sendInspectionEvent({
        type: '@xstate.microstep',
        actorRef: scope.self,
        event,
        snapshot: before,
        _transitions: taken,
      })
  }
}

/** The first transition with an open guard. */
function firstOpen(moves: Moves, step: ChartStep): Move | undefined {
  for (const move of moves) if (move.isOpen(step)) return move
  return undefined
}

function openMoves(selection: Selection, step: ChartStep): Move[] {
  if (isBranch(selection)) {
    const open = selection.regions.flatMap((region) => openMoves(region, step))
    if (open.length > 0) return open
  }
  const move = firstOpen(isBranch(selection) ? selection.otherwise : selection, step)
  return move === undefined ? [] : [move]
}
