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

/** The transitions' names, in order: `call.queued --call.start[0]→ call.executing.validating`. */
export function transitionNames({ nodes, transitions }: ChartDefinition): string[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const pathOf = (id: number, depth = 0): string => {
    const node = byId.get(id)
    // a definition from a file can contain a cycle
    if (node === undefined || depth > nodes.length) return '?'
    return node.parent === null ? node.key : `${pathOf(node.parent, depth + 1)}.${node.key}`
  }
  const seen = new Map<string, number>()
  return transitions.map(({ source, event, targets }) => {
    const from = `${pathOf(source)} --${event === '' ? 'always' : event}`
    const index = seen.get(from) ?? 0
    seen.set(from, index + 1)
    return `${from}[${index}]→ ${targets.length === 0 ? '(stays)' : targets.map((id) => pathOf(id)).join(', ')}`
  })
}
