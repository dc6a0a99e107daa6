import type { AnyMachineSnapshot, AnyStateMachine, AnyStateNode, AnyTransitionDefinition, StateValue } from 'xstate'
import { type ChartAction, compileAction } from './chart-actions.ts'
import { alwaysOpen, type ChartGuard, compileGuard } from './chart-guards.ts'
import type { ChartStep } from './chart-step.ts'

type Actions = AnyTransitionDefinition['actions']

/** The moves of one region that could answer an event, inner states first. */
export type Moves = readonly Move[]
export type Regions = readonly Moves[]

/** One combination of active states, found once and used for ever: a step looks things up in place of working them out. */
export class Configuration {
  readonly nodes: readonly AnyStateNode[]
  readonly value: StateValue
  readonly tags: ReadonlySet<string>
  readonly isDone: boolean
  readonly eventless: Regions
  readonly #table: ChartTable
  readonly #answers = new Map<string, Regions>()
  readonly #moves = new Map<AnyTransitionDefinition, Move>()

  constructor(table: ChartTable, nodes: readonly AnyStateNode[]) {
    this.#table = table
    this.nodes = nodes
    this.value = stateValueOf(nodes[0] as AnyStateNode, new Set(nodes))
    this.tags = new Set(nodes.flatMap(({ tags }) => tags))
    this.isDone = nodes.some(({ type, parent }) => type === 'final' && parent === nodes[0])
    this.eventless = this.#regions(({ always }) => always ?? [])
  }

  movesOn(eventType: string): Regions {
    const known = this.#answers.get(eventType)
    if (known !== undefined) return known
    const found = this.#regions((node) => node.transitions.get(eventType) ?? [])
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

  #regions(transitionsOf: (node: AnyStateNode) => readonly AnyTransitionDefinition[]): Regions {
    return perRegion(this.nodes, transitionsOf).map((list) => list.map((transition) => this.moveBy(transition)))
  }
}

/** Taking a transition in a configuration. What it amounts to is worked out when it is first taken. */
export class Move {
  readonly transition: AnyTransitionDefinition
  /** The move alone, as whoever looks on is told of it. */
  readonly taken: readonly [AnyTransitionDefinition]
  readonly #table: ChartTable
  readonly #from: Configuration
  #effect: Effect | undefined
  #guard: unknown
  #test: ChartGuard = alwaysOpen

  constructor(table: ChartTable, from: Configuration, transition: AnyTransitionDefinition) {
    this.#table = table
    this.#from = from
    this.transition = transition
    this.taken = [transition]
  }

  isOpen(step: ChartStep): boolean {
    const { guard } = this.transition
    // the definition is the source of truth, even where somebody changes it
    if (guard !== this.#guard) {
      this.#guard = guard
      this.#test = compileGuard(this.#table.machine, guard)
    }
    return this.#test(step)
  }

  get effect(): Effect {
    this.#effect ??= this.#table.effectOf(this.#from, this.transition)
    return this.#effect
  }
}

/** What a transition does, and where it leads. */
export interface Effect {
  readonly actions: readonly ChartAction[]
  readonly next: Configuration
}

/** The configurations of a chart, and the moves between them, each worked out when it is first needed. */
export class ChartTable {
  readonly machine: AnyStateMachine
  readonly initial: Effect
  readonly #configurations = new Map<string, Configuration>()
  readonly #byNodes = new WeakMap<object, Configuration>()

  constructor(machine: AnyStateMachine) {
    assertSupported(machine.root)
    this.machine = machine
    const entered = inOrder(withInitialStates(machine.root))
    this.initial = this.#effect(
      entered.flatMap(({ entry }) => entry),
      entered,
    )
  }

  /** By the nodes of a snapshot. */
  configurationOf({ _nodes: nodes }: AnyMachineSnapshot): Configuration {
    const known = this.#byNodes.get(nodes)
    if (known === undefined) throw new Error(`This snapshot of ${this.machine.id} was not made by the table.`)
    return known
  }

  effectOf(configuration: Configuration, { target, actions, ...transition }: AnyTransitionDefinition): Effect {
    if (target === undefined) return this.#effect(actions, configuration.nodes)
    const domain = domainOf(transition, target)
    const isExited = (node: AnyStateNode) => isBelow(node, domain)
    const exited = configuration.nodes.filter(isExited)
    const stays = new Set(configuration.nodes.filter((node) => !isExited(node)))
    const entered = new Set(target.flatMap((node) => [...pathBelow(domain, node), ...withInitialStates(node)]))
    for (const node of stays) entered.delete(node)
    const next = inOrder([...stays, ...entered])
    const { isDone } = this.#configurationWith(next)
    return this.#effect(
      [
        ...exitsOf(exited),
        ...actions,
        ...inOrder(entered).flatMap(({ entry }) => entry),
        ...(isDone ? exitsOf(next) : []),
      ],
      next,
    )
  }

  #effect(actions: Actions, next: readonly AnyStateNode[]): Effect {
    return {
      actions: actions.map((action) => compileAction(this.machine, action)),
      next: this.#configurationWith(next),
    }
  }

  #configurationWith(nodes: readonly AnyStateNode[]): Configuration {
    const key = nodes.map(({ order }) => order).join()
    const known = this.#configurations.get(key)
    if (known !== undefined) return known
    const found = new Configuration(this, nodes)
    this.#configurations.set(key, found)
    this.#byNodes.set(nodes, found)
    return found
  }
}

const childrenOf = (node: AnyStateNode): AnyStateNode[] => Object.values(node.states) as AnyStateNode[]

const inOrder = (nodes: Iterable<AnyStateNode>): AnyStateNode[] => [...nodes].sort((a, b) => a.order - b.order)

const exitsOf = (nodes: Iterable<AnyStateNode>): Actions =>
  inOrder(nodes)
    .reverse()
    .flatMap(({ exit }) => exit)

function isBelow(node: AnyStateNode, ancestor: AnyStateNode): boolean {
  for (let each = node.parent; each !== undefined; each = each.parent) if (each === ancestor) return true
  return false
}

function ancestorsOf(node: AnyStateNode): AnyStateNode[] {
  return node.parent === undefined ? [] : [node.parent, ...ancestorsOf(node.parent)]
}

/** The states that are entered on the way from a state down to one inside it. */
const pathBelow = (domain: AnyStateNode, node: AnyStateNode): AnyStateNode[] =>
  ancestorsOf(node).filter((each) => isBelow(each, domain))

/** A state and what is entered with it. */
function withInitialStates(node: AnyStateNode): AnyStateNode[] {
  if (node.type === 'parallel') return [node, ...childrenOf(node).flatMap(withInitialStates)]
  if (node.type === 'compound')
    return [node, ...node.initial.target.flatMap((each: AnyStateNode) => withInitialStates(each))]
  return [node]
}

/** The innermost state that a transition does not leave. */
function domainOf(
  { source, reenter }: Pick<AnyTransitionDefinition, 'source' | 'reenter'>,
  target: readonly AnyStateNode[],
): AnyStateNode {
  const isInside = target.every((node) => node === source || isBelow(node, source))
  if (isInside && !reenter) return source
  const shared = ancestorsOf(source).find((ancestor) => target.every((node) => isBelow(node, ancestor)))
  return shared ?? source
}

/** From each innermost state outwards: what an inner state answers, an outer one is not asked. */
function perRegion(
  nodes: readonly AnyStateNode[],
  transitionsOf: (node: AnyStateNode) => readonly AnyTransitionDefinition[],
): AnyTransitionDefinition[][] {
  const leaves = nodes.filter((node) => node.type === 'atomic' || node.type === 'final')
  const lists = leaves.map((leaf) => [leaf, ...ancestorsOf(leaf)].flatMap(transitionsOf))
  return lists.filter((list) => list.length > 0)
}

function stateValueOf(node: AnyStateNode, active: ReadonlySet<AnyStateNode>): StateValue {
  const children = childrenOf(node).filter((child) => active.has(child))
  const [only] = children
  if (node.type === 'compound' && only !== undefined && childrenOf(only).length === 0) return only.key
  return Object.fromEntries(children.map((child) => [child.key, stateValueOf(child, active)]))
}

/** What the charts here do without is refused, not half done. */
function assertSupported(node: AnyStateNode): void {
  const unsupported =
    node.invoke.length > 0
      ? 'invoke'
      : node.after.length > 0
        ? 'after'
        : node.type === 'history'
          ? 'history'
          : undefined
  if (unsupported !== undefined)
    throw new Error(`A chart with \`${unsupported}\` (${node.id}) cannot run from a table.`)
  for (const eventType of node.transitions.keys()) {
    if (eventType.includes('*')) throw new Error(`A chart with wildcards (${node.id}) cannot run from a table.`)
  }
  for (const child of childrenOf(node)) assertSupported(child)
}
