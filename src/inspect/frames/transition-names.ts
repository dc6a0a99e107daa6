import type { ChartDefinition } from './chart-definition.ts'

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
