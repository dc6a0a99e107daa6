import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition, StateValue } from 'xstate'

type Actions = AnyTransitionDefinition['actions']

/** One combination of active states, found once and used for ever: a step looks things up in place of working them out. */
export interface Configuration {
  readonly nodes: readonly AnyStateNode[]
  readonly value: StateValue
  readonly tags: ReadonlySet<string>
  readonly isDone: boolean
  /** For each event, the transitions that could answer it: a list per region, inner states first. */
  readonly candidates: Map<string, readonly AnyTransitionDefinition[][]>
  readonly eventless: readonly AnyTransitionDefinition[][]
  readonly moves: Map<AnyTransitionDefinition, Move>
}

/** What taking a transition in a configuration amounts to. */
export interface Move {
  readonly actions: Actions
  readonly next: Configuration
}

/** The configurations of a chart, and the moves between them, each worked out when it is first needed. */
export class ChartTable {
  readonly initial: Move
  readonly #configurations = new Map<string, Configuration>()

  constructor(machine: AnyStateMachine) {
    assertSupported(machine.root)
    const entered = inOrder(withInitialStates(machine.root))
    this.initial = { actions: entered.flatMap(({ entry }) => entry), next: this.#configurationOf(entered) }
  }

  candidatesFor(configuration: Configuration, eventType: string): readonly AnyTransitionDefinition[][] {
    const known = configuration.candidates.get(eventType)
    if (known !== undefined) return known
    const found = perRegion(configuration.nodes, (node) => node.transitions.get(eventType) ?? [])
    configuration.candidates.set(eventType, found)
    return found
  }

  moveFor(configuration: Configuration, transition: AnyTransitionDefinition): Move {
    const known = configuration.moves.get(transition)
    if (known !== undefined) return known
    const found = this.#workOut(configuration, transition)
    configuration.moves.set(transition, found)
    return found
  }

  #workOut(configuration: Configuration, transition: AnyTransitionDefinition): Move {
    const { target, actions } = transition
    if (target === undefined) return { actions, next: configuration }
    const domain = domainOf(transition, target)
    const isExited = (node: AnyStateNode) => isBelow(node, domain)
    const exited = configuration.nodes.filter(isExited)
    const stays = new Set(configuration.nodes.filter((node) => !isExited(node)))
    const entered = new Set(target.flatMap((node) => [...pathBelow(domain, node), ...withInitialStates(node)]))
    for (const node of stays) entered.delete(node)
    const next = this.#configurationOf(inOrder([...stays, ...entered]))
    return {
      actions: [
        ...exitsOf(exited),
        ...actions,
        ...inOrder(entered).flatMap(({ entry }) => entry),
        ...(next.isDone ? exitsOf(next.nodes) : []),
      ],
      next,
    }
  }

  #configurationOf(nodes: readonly AnyStateNode[]): Configuration {
    const key = nodes.map(({ order }) => order).join()
    const known = this.#configurations.get(key)
    if (known !== undefined) return known
    const found: Configuration = {
      nodes,
      value: stateValueOf(nodes[0] as AnyStateNode, new Set(nodes)),
      tags: new Set(nodes.flatMap(({ tags }) => tags)),
      isDone: nodes.some(({ type, parent }) => type === 'final' && parent === nodes[0]),
      candidates: new Map(),
      eventless: perRegion(nodes, ({ always }) => always ?? []),
      moves: new Map(),
    }
    this.#configurations.set(key, found)
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
function domainOf({ source, reenter }: AnyTransitionDefinition, target: readonly AnyStateNode[]): AnyStateNode {
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
