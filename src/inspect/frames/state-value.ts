import type { ChartDefinition, ChartNode } from './chart-definition.ts'

/** The active states in the form of XState's `snapshot.value`. */
export type StateValue = string | { readonly [key: string]: StateValue }

export function stateValue({ nodes }: ChartDefinition, active: readonly number[]): StateValue {
  const isActive = new Set(active)
  const below = (node: ChartNode): StateValue => {
    const children = nodes.filter(({ id, parent }) => parent === node.id && isActive.has(id))
    const [only] = children
    const isLeaf = only?.kind === 'atomic' || only?.kind === 'final'
    if (node.kind === 'compound' && only !== undefined && isLeaf) return only.key
    return Object.fromEntries(children.map((child) => [child.key, below(child)]))
  }
  const [root] = nodes
  return root === undefined ? {} : below(root)
}
