import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate'
import { describeValue } from '../../base/describe-value.ts'

/** A chart for drawing: its states and transitions, each with the number that frames refer to. */
export interface ChartDefinition {
  readonly id: string
  readonly nodes: readonly ChartNode[]
  readonly transitions: readonly ChartTransition[]
}

export interface ChartNode {
  readonly id: number
  readonly key: string
  readonly parent: number | null
  readonly kind: 'atomic' | 'compound' | 'parallel' | 'final' | 'history'
  readonly initial: number | null
  readonly entry: readonly string[]
  readonly exit: readonly string[]
  readonly tags: readonly string[]
}

export interface ChartTransition {
  readonly id: number
  readonly source: number
  /** Empty for an eventless transition. */
  readonly event: string
  readonly guard: string | null
  /** Empty if the transition stays in its state. */
  readonly targets: readonly number[]
  readonly actions: readonly string[]
}

/** A chart, and the numbers of its live transitions. */
export interface KnownChart {
  readonly definition: ChartDefinition
  readonly initial: readonly number[]
  transitionId(transition: AnyTransitionDefinition): number | undefined
}

const known = new WeakMap<AnyStateNode, KnownChart>()

/** Cached per machine, by root: a compiled machine shares the root with its definition. */
export function chartOf(machine: AnyStateMachine): KnownChart {
  const found = known.get(machine.root) ?? describeChart(machine)
  known.set(machine.root, found)
  return found
}

function describeChart(machine: AnyStateMachine): KnownChart {
  const ids = new WeakMap<AnyTransitionDefinition, number>()
  const transitions: ChartTransition[] = []
  const nodes = below(machine.root)
  for (const node of nodes) {
    for (const list of [...node.transitions.values(), ...(node.always === undefined ? [] : [node.always])]) {
      for (const transition of list) {
        ids.set(transition, transitions.length)
        transitions.push(describeTransition(transition, transitions.length))
      }
    }
  }
  return {
    definition: { id: machine.id, nodes: nodes.map(describeNode), transitions },
    initial: entered(machine.root).map(({ order }) => order),
    transitionId: (transition) => ids.get(transition),
  }
}

const below = (node: AnyStateNode): AnyStateNode[] => [node, ...childrenOf(node).flatMap(below)]

const childrenOf = (node: AnyStateNode): AnyStateNode[] => Object.values(node.states) as AnyStateNode[]

function entered(node: AnyStateNode): AnyStateNode[] {
  if (node.type === 'parallel') return [node, ...childrenOf(node).flatMap(entered)]
  if (node.type === 'compound') return [node, ...node.initial.target.flatMap((each: AnyStateNode) => entered(each))]
  return [node]
}

function describeNode(node: AnyStateNode): ChartNode {
  return {
    id: node.order,
    key: node.key,
    parent: node.parent?.order ?? null,
    kind: node.type,
    initial: node.type === 'compound' ? (node.initial.target[0]?.order ?? null) : null,
    entry: node.entry.map(nameOf),
    exit: node.exit.map(nameOf),
    tags: [...node.tags],
  }
}

function describeTransition(transition: AnyTransitionDefinition, id: number): ChartTransition {
  const { source, eventType, guard, target, actions } = transition
  return {
    id,
    source: source.order,
    event: eventType,
    guard: guard === undefined ? null : nameOf(guard),
    targets: target?.map(({ order }) => order) ?? [],
    actions: actions.map(nameOf),
  }
}

/** The name of an action or a guard, with its parameter if that is a string or a number. */
function nameOf(reference: unknown): string {
  if (typeof reference === 'string') return reference
  if (typeof reference === 'function') return reference.name === '' ? '(inline)' : reference.name
  const { type, params } = reference as { type: unknown; params?: unknown }
  const isWord = typeof params === 'string' || typeof params === 'number'
  return `${type}${isWord ? `(${describeValue(params, 40)})` : ''}`
}
