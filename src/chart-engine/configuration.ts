import type { AnyMachineSnapshot, AnyStateNode, AnyTransitionDefinition, StateValue } from 'xstate'
import { type ChartAction, compileAction } from './chart-actions.ts'
import type { Content } from './chart-step.ts'
import type { ChartTable } from './chart-table.ts'
import { ancestorsOf, isLeaf, stateValueOf } from './chart-tree.ts'
import { type Effect, Move } from './move.ts'

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

  compileAction(action: AnyTransitionDefinition['actions'][number]): ChartAction {
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
