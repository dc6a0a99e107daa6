import type { AnyMachineSnapshot, AnyStateMachine, AnyStateNode, AnyTransitionDefinition, StateValue } from 'xstate'
import { type ChartAction, compileAction } from './chart-actions.ts'
import { type Asked, type ChartGuard, compileGuard } from './chart-guards.ts'
import type { Content } from './chart-step.ts'
import { ancestorsOf, innermostFirst, inOrder, isLeaf, isOver, stateValueOf, withInitialStates } from './chart-tree.ts'
import { refuseUnsupported } from './refuse-unsupported.ts'
import { EntrySet, exitSetOf, withoutConflicts } from './transition-sets.ts'

type Actions = AnyTransitionDefinition['actions']
type Transitions = readonly AnyTransitionDefinition[]

/** Candidates; the first with an open guard is taken. */
export type Moves = readonly Move[]
/** Candidates for an event: moves, or regions that may each take one, with moves in case no region does. */
export type Selection = Moves | Branch
export interface Branch {
  readonly regions: readonly Selection[]
  readonly otherwise: Moves
}

export const isBranch = (selection: Selection): selection is Branch => 'regions' in selection

const nothing: Moves = []

/**
 * One combination of active states, computed once and cached, so that a step is a lookup. The order of the states matters,
 * because XState checks regions in the order in which they were entered.
 */
export class Configuration {
  readonly nodes: readonly AnyStateNode[]
  readonly value: StateValue
  readonly tags: ReadonlySet<string>
  /** The eventless moves of each innermost state, from the inside out. */
  readonly eventless: readonly Moves[]
  readonly #table: ChartTable
  readonly #answers = new Map<string, Selection>()
  readonly #moves = new Map<AnyTransitionDefinition, Move>()
  readonly #together = new Map<string, Effect>()

  constructor(table: ChartTable, nodes: readonly AnyStateNode[]) {
    this.#table = table
    this.nodes = nodes
    this.value = stateValueOf(table.machine.root, nodes)
    this.tags = new Set(nodes.flatMap(({ tags }) => tags))
    this.eventless = nodes
      .filter(isLeaf)
      .map((leaf) => [leaf, ...ancestorsOf(leaf)].flatMap(({ always }) => this.#movesBy(always)))
      .filter(({ length }) => length > 0)
  }

  /** A snapshot in these states, with the changes of a step. */
  snapshotOf(content: Content): AnyMachineSnapshot {
    return this.#table.snapshotOf(this, content)
  }

  compileAction(action: Actions[number]): ChartAction {
    return compileAction(this.#table.machine, action)
  }

  movesOn(eventType: string): Selection {
    const known = this.#answers.get(eventType)
    if (known !== undefined) return known
    // not cached: the number of unknown event types is unlimited
    if (!this.#table.eventTypes.has(eventType)) return nothing
    const { root } = this.#table.machine
    const found = this.#select(root, this.value, eventType)
    this.#answers.set(eventType, found)
    return found
  }

  moveBy(transition: AnyTransitionDefinition): Move {
    const known = this.#moves.get(transition)
    if (known !== undefined) return known
    const found = new Move(this.#table, this, transition)
    this.#moves.set(transition, found)
    return found
  }

  /** The effect of several transitions in one step. */
  effectOf(transitions: Transitions): Effect {
    const key = transitions.map((transition) => this.#table.numberOf(transition)).join()
    const known = this.#together.get(key)
    if (known !== undefined) return known
    const found = this.#table.effectOf(this, transitions)
    this.#together.set(key, found)
    return found
  }

  /** Inner states come first; a state around regions is checked only if none of its regions takes the event. */
  #select(node: AnyStateNode, value: StateValue, eventType: string): Selection {
    const own = this.#movesBy(node.transitions.get(eventType))
    const inner = Object.entries(typeof value === 'string' ? { [value]: undefined } : value).map(([key, inside]) => {
      const child = node.states[key] as AnyStateNode
      const isInnermost = inside === undefined || (typeof inside === 'object' && Object.keys(inside).length === 0)
      return isInnermost
        ? this.#movesBy(child.transitions.get(eventType))
        : this.#select(child, inside as StateValue, eventType)
    })
    const regions = inner.filter((each) => isBranch(each) || each.length > 0)
    const [only = nothing] = regions
    if (regions.length > 1) return { regions, otherwise: own }
    return isBranch(only) ? { ...only, otherwise: [...only.otherwise, ...own] } : [...only, ...own]
  }

  #movesBy(transitions: Transitions = []): Move[] {
    return transitions.map((transition) => this.moveBy(transition))
  }
}

/** A transition in a configuration. Its effect is computed when it is first taken. */
export class Move {
  readonly transition: AnyTransitionDefinition
  /** The transition alone, as reported to inspectors. */
  readonly taken: readonly [AnyTransitionDefinition]
  readonly #table: ChartTable
  readonly #from: Configuration
  #effect: Effect | undefined
  #guard: unknown
  #test: ChartGuard | undefined

  constructor(table: ChartTable, from: Configuration, transition: AnyTransitionDefinition) {
    this.#table = table
    this.#from = from
    this.transition = transition
    this.taken = [transition]
  }

  isOpen(asked: Asked): boolean {
    const { guard, eventType } = this.transition
    // the definition is the source of truth, even if it is changed later
    if (guard !== this.#guard) {
      this.#guard = guard
      const isOpen = eventType === '' ? guard === undefined : !guard
      this.#test = isOpen ? undefined : compileGuard(this.#table.machine, guard)
    }
    if (this.#test === undefined) return true
    if (eventType === '') return this.#test(asked)
    try {
      return this.#test(asked)
    } catch (error) {
      throw this.#asXStateTellsIt(error, asked.event.type)
    }
  }

  get effect(): Effect {
    this.#effect ??= this.#table.effectOf(this.#from, this.taken)
    return this.#effect
  }

  #asXStateTellsIt(error: unknown, eventType: string): Error {
    const { guard, source } = this.transition
    const name = typeof guard === 'string' ? guard : typeof guard === 'object' ? (guard as { type: string }).type : ''
    const { message } = error as Error
    const which = name ? `'${name}' ` : ''
    return new Error(
      `Unable to evaluate guard ${which}in transition for event '${eventType}' in state node '${source.id}':\n${message}`,
    )
  }
}

/** The actions and the target of transitions. */
export interface Effect {
  /** The transitions that are taken: of two that would leave the same state, only one is. */
  readonly transitions: Transitions
  readonly actions: readonly ChartAction[]
  readonly next: Configuration
}

/** The configurations of a chart and the moves between them, each computed at first use. */
export class ChartTable {
  readonly machine: AnyStateMachine
  readonly #compiled: AnyStateMachine
  /** A snapshot created by XState; ours differ only in the fields that a step can change. */
  #template: AnyMachineSnapshot | undefined
  readonly eventTypes: ReadonlySet<string>
  /** The configuration before any state is entered. */
  readonly unentered: Configuration
  /** The first snapshot of every actor. */
  readonly blank: AnyMachineSnapshot
  readonly initial: Effect
  readonly #configurations = new Map<string, Configuration>()
  readonly #byNodes = new WeakMap<object, Configuration>()
  readonly #numbers = new Map<AnyTransitionDefinition, number>()

  /** Snapshots refer to the compiled machine. */
  constructor(machine: AnyStateMachine, compiled: AnyStateMachine) {
    refuseUnsupported(machine)
    this.machine = machine
    this.#compiled = compiled
    this.eventTypes = new Set(withEveryState(machine.root).flatMap(({ transitions }) => [...transitions.keys()]))
    const { root } = machine
    this.unentered = this.#configurationWith([root])
    const begin = { source: root, target: withInitialStates(root), reenter: true, actions: [] as Actions }
    this.blank = this.unentered.snapshotOf({ context: {}, children: {}, status: 'active', output: undefined })
    this.initial = this.#effect(this.unentered, [begin as never], new Set([root]), [])
  }

  /** Looks up the nodes of a snapshot, which XState may have created. */
  configurationOf({ _nodes: nodes }: AnyMachineSnapshot): Configuration {
    return this.#byNodes.get(nodes) ?? this.#configurationWith(nodes)
  }

  snapshotOf({ nodes, value, tags }: Configuration, content: Content): AnyMachineSnapshot {
    this.#template ??= this.machine.resolveState({ value: this.unentered.value, context: {} } as never)
    const { error, historyValue, matches, hasTag, can, getMeta, toJSON } = this.#template
    return {
      status: content.status,
      output: content.output,
      error,
      machine: this.#compiled,
      context: content.context,
      _nodes: nodes,
      value,
      tags,
      children: content.children,
      historyValue,
      matches,
      hasTag,
      can,
      getMeta,
      toJSON,
    } as AnyMachineSnapshot
  }

  numberOf(transition: AnyTransitionDefinition): number {
    const known = this.#numbers.get(transition)
    if (known !== undefined) return known
    this.#numbers.set(transition, this.#numbers.size)
    return this.#numbers.size - 1
  }

  effectOf(from: Configuration, selected: Transitions): Effect {
    const active = new Set(from.nodes)
    const transitions = withoutConflicts(selected, active)
    const exited = innermostFirst(exitSetOf(transitions, active))
    for (const node of exited) active.delete(node)
    return this.#effect(from, transitions, active, exited)
  }

  #effect(from: Configuration, transitions: Transitions, active: Set<AnyStateNode>, exited: AnyStateNode[]): Effect {
    const actions = this.#compile([
      ...exited.flatMap(({ exit }) => exit),
      ...transitions.flatMap((each) => each.actions),
    ])
    const { entered, byDefault } = new EntrySet(transitions)
    const over = new Set<AnyStateNode>()
    let isDone = false
    for (const node of inOrder(entered)) {
      active.add(node)
      actions.push(...this.#compile(node.entry))
      if (byDefault.has(node)) actions.push(...this.#compile(node.initial.actions))
      if (node.type === 'final') isDone = this.#tellOver(node, active, over, actions) || isDone
    }
    const nodes = isDone ? innermostFirst(active) : [...active]
    if (isDone) actions.push(...this.#compile(nodes.flatMap(({ exit }) => exit)))
    const isSame = from.nodes.length === active.size && from.nodes.every((node) => active.has(node))
    return { transitions, actions, next: isSame ? from : this.#configurationWith(nodes) }
  }

  /** After a final state was entered: finds the states around it that are completed, and returns whether the chart is. */
  #tellOver(
    final: AnyStateNode,
    active: ReadonlySet<AnyStateNode>,
    over: Set<AnyStateNode>,
    actions: ChartAction[],
  ): boolean {
    const { parent, output } = final
    let around = parent?.type === 'parallel' ? parent : parent?.parent
    let last = around ?? final
    const isLast = parent?.type === 'compound' && parent.parent === undefined
    // the chart ends before the done event, but XState still calls the output function
    if (isLast && output !== undefined) actions.push((step) => void step.outputOf(output))
    if (parent?.type === 'compound' && !isLast) {
      const type = `xstate.done.state.${parent.id}`
      actions.push((step) => step.raise({ type, output: output === undefined ? undefined : step.outputOf(output) }))
    }
    while (around?.type === 'parallel' && !over.has(around) && isOver(around, active)) {
      over.add(around)
      const type = `xstate.done.state.${around.id}`
      actions.push((step) => step.raise({ type, output: undefined }))
      last = around
      around = around.parent
    }
    if (around !== undefined) return false
    const { root } = this.machine
    actions.push((step) => step.finish(last, root))
    return true
  }

  #compile(actions: Actions): ChartAction[] {
    return actions.map((action) => compileAction(this.machine, action))
  }

  #configurationWith(nodes: readonly AnyStateNode[]): Configuration {
    const key = nodes.map(({ order }) => order).join()
    let found = this.#configurations.get(key)
    if (found === undefined) {
      found = new Configuration(this, nodes)
      this.#configurations.set(key, found)
    }
    this.#byNodes.set(nodes, found)
    return found
  }
}

const withEveryState = (node: AnyStateNode): AnyStateNode[] => [
  node,
  ...Object.values(node.states).flatMap((child) => withEveryState(child as AnyStateNode)),
]
