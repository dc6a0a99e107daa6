import type { AnyStateNode, StateValue } from 'xstate'

/** The hierarchy of a chart's states. If an ancestor is undefined, every state is below it, including the root. */

export const childrenOf = (node: AnyStateNode): AnyStateNode[] => Object.values(node.states) as AnyStateNode[]

export const isLeaf = ({ type }: AnyStateNode): boolean => type === 'atomic' || type === 'final'

export const inOrder = (nodes: Iterable<AnyStateNode>): AnyStateNode[] => [...nodes].sort((a, b) => a.order - b.order)

export const innermostFirst = (nodes: Iterable<AnyStateNode>): AnyStateNode[] => inOrder(nodes).reverse()

export function isBelow(node: AnyStateNode, ancestor: AnyStateNode | undefined): boolean {
  if (ancestor === undefined) return true
  for (let each = node.parent; each !== undefined; each = each.parent) if (each === ancestor) return true
  return false
}

/** The ancestors from the inside out, up to but not including a state. */
export function ancestorsOf(node: AnyStateNode, upTo?: AnyStateNode): AnyStateNode[] {
  const found: AnyStateNode[] = []
  if (node === upTo) return found
  for (let each = node.parent; each !== undefined && each !== upTo; each = each.parent) found.push(each)
  return found
}

export function withInitialStates(node: AnyStateNode): AnyStateNode[] {
  const children = node.type === 'parallel' ? childrenOf(node) : node.type === 'compound' ? initialOf(node) : []
  return [node, ...children.flatMap(withInitialStates)]
}

export const initialOf = (node: AnyStateNode): AnyStateNode[] => node.initial.target as AnyStateNode[]

/** The regions in the order of the active states. A state without active children counts as in its initial states. */
export function stateValueOf(node: AnyStateNode, active: readonly AnyStateNode[]): StateValue {
  const found = active.filter(({ parent }) => parent === node)
  const missing = node.type === 'parallel' ? childrenOf(node) : node.type === 'compound' ? initialOf(node) : []
  const children = found.length > 0 ? found : missing
  const [first] = children
  if (node.type === 'compound' && first !== undefined && isLeaf(first)) return first.key
  return Object.fromEntries(children.map((child) => [child.key, stateValueOf(child, active)]))
}

/** Whether a state is completed: in a final state, or with all its regions completed. */
export function isOver(node: AnyStateNode, active: ReadonlySet<AnyStateNode>): boolean {
  if (node.type === 'compound') return childrenOf(node).some((child) => child.type === 'final' && active.has(child))
  if (node.type === 'parallel') return childrenOf(node).every((child) => isOver(child, active))
  return node.type === 'final'
}
