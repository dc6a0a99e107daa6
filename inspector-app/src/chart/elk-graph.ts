import type { ElkExtendedEdge, ElkNode } from 'elkjs/lib/elk-api.js'
import type { ChartDefinition } from '../../../src/inspect/index.ts'
import { type Box, childrenOf, edgesOf, type Layout, leafSize, rootOf } from './graph.ts'

const spacing = {
  'elk.layered.spacing.nodeNodeBetweenLayers': '18',
  'elk.layered.spacing.edgeNodeBetweenLayers': '9',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '7',
  'elk.spacing.nodeNode': '20',
  'elk.spacing.edgeNode': '12',
  'elk.spacing.edgeEdge': '8',
  'elk.spacing.componentComponent': '24',
}

const options = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.json.shapeCoords': 'ROOT',
  'elk.json.edgeCoords': 'ROOT',
  'elk.layered.mergeEdges': 'true',
  'elk.aspectRatio': '0.6',
  ...spacing,
  'elk.padding': '[top=12,left=12,bottom=12,right=12]',
}

/** The chart in the format of the layout worker. */
export function toElk(chart: ChartDefinition): ElkNode {
  const root = rootOf(chart)
  const nodeOf = (id: number): ElkNode => {
    const children = childrenOf(chart, id)
    const node = chart.nodes.find((each) => each.id === id)
    if (children.length === 0) return { id: String(id), ...(node && leafSize(node)) }
    return {
      id: String(id),
      children: children.map((child) => nodeOf(child.id)),
      layoutOptions: {
        'elk.padding': '[top=32,left=14,bottom=14,right=14]',
        'elk.layered.mergeEdges': 'true',
        ...spacing,
      },
    }
  }
  const top = root === undefined ? [] : childrenOf(chart, root.id)
  // invisible edges stack parallel regions vertically; side by side they would be too small
  const below = root?.kind === 'parallel' ? top.slice(1).map(({ id }, index) => [top[index]?.id, id]) : []
  return {
    id: 'chart',
    layoutOptions: options,
    children: top.map(({ id }) => nodeOf(id)),
    edges: [
      ...below.map(([from, to]) => ({ id: `below-${to}`, sources: [`${from}`], targets: [`${to}`] })),
      ...edgesOf(chart).map(
        ({ id, source, target }): ElkExtendedEdge => ({
          id,
          sources: [String(source)],
          targets: [String(target)],
          // follow source order, so that the main path runs from top to bottom
          layoutOptions: { 'elk.layered.priority.direction': source < target ? '10' : '0' },
        }),
      ),
    ],
  }
}

export function readLayout(graph: ElkNode): Layout {
  const boxes = new Map<number, Box>()
  const lines = new Map<string, { x: number; y: number }[]>()
  const visit = (node: ElkNode): void => {
    for (const child of node.children ?? []) {
      const { id, x = 0, y = 0, width = 0, height = 0 } = child
      boxes.set(Number(id), { x, y, width, height })
      visit(child)
    }
    for (const { id, sections = [] } of node.edges ?? []) {
      const points = sections.flatMap(({ startPoint, bendPoints = [], endPoint }) => [
        startPoint,
        ...bendPoints,
        endPoint,
      ])
      lines.set(id, points)
    }
  }
  visit(graph)
  return { width: graph.width ?? 0, height: graph.height ?? 0, boxes, lines }
}
