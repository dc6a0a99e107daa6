import type { ElkExtendedEdge, ElkNode } from 'elkjs/lib/elk-api.js'
import type { ChartDefinition } from '../../../src/inspect/index.ts'
import { type Box, childrenOf, edgesOf, type Layout, leafSize, rootOf } from './graph.ts'

/** The ways to lay out a chart. The roomy ones leave room for labels; the compact ones keep names readable in a small panel. */
export const ways = ['down', 'ordered', 'right', 'roomyDown', 'roomyRight', 'compactDown', 'compactRight'] as const
export type Way = (typeof ways)[number]

const spacingOf = (between: number, node: number, edge: number) => ({
  'elk.layered.spacing.nodeNodeBetweenLayers': `${between}`,
  'elk.layered.spacing.edgeNodeBetweenLayers': `${edge + 1}`,
  'elk.layered.spacing.edgeEdgeBetweenLayers': `${edge}`,
  'elk.spacing.nodeNode': `${node}`,
  'elk.spacing.edgeNode': `${edge + 2}`,
  'elk.spacing.edgeEdge': `${edge}`,
  'elk.spacing.componentComponent': `${node + 4}`,
})

const tight = spacingOf(12, 12, 5)
const roomy = spacingOf(46, 34, 9)
const compact = spacingOf(6, 8, 3)

const spacings: Readonly<Record<Way, Readonly<Record<string, string>>>> = {
  down: tight,
  ordered: tight,
  right: tight,
  roomyDown: roomy,
  roomyRight: roomy,
  compactDown: compact,
  compactRight: compact,
}

const toTheRight: ReadonlySet<Way> = new Set(['right', 'roomyRight', 'compactRight'])

const options = {
  'elk.algorithm': 'layered',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.json.shapeCoords': 'ROOT',
  'elk.json.edgeCoords': 'ROOT',
  'elk.layered.mergeEdges': 'true',
  'elk.padding': '[top=8,left=8,bottom=8,right=8]',
}

/** The chart in the format of the layout worker. */
export function toElk(chart: ChartDefinition, way: Way): ElkNode {
  const root = rootOf(chart)
  const spacing = spacings[way]
  const isDown = !toTheRight.has(way)
  const isCompact = spacing === compact
  const nodeOf = (id: number): ElkNode => {
    const children = childrenOf(chart, id)
    const node = chart.nodes.find((each) => each.id === id)
    if (children.length === 0) return { id: String(id), ...(node && leafSize(node, isCompact)) }
    return {
      id: String(id),
      children: children.map((child) => nodeOf(child.id)),
      layoutOptions: {
        'elk.padding': isCompact ? '[top=23,left=7,bottom=7,right=7]' : '[top=28,left=10,bottom=10,right=10]',
        'elk.layered.mergeEdges': 'true',
        ...spacing,
      },
    }
  }
  const top = root === undefined ? [] : childrenOf(chart, root.id)
  // invisible edges stack parallel regions; in a wide panel they are side by side
  const below = root?.kind === 'parallel' && isDown ? top.slice(1).map(({ id }, index) => [top[index]?.id, id]) : []
  return {
    id: 'chart',
    layoutOptions: {
      ...options,
      ...spacing,
      'elk.direction': isDown ? 'DOWN' : 'RIGHT',
      ...(way === 'ordered' && { 'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER' }),
    },
    children: top.map(({ id }) => nodeOf(id)),
    edges: [
      ...below.map(([from, to]) => ({ id: `below-${to}`, sources: [`${from}`], targets: [`${to}`] })),
      ...edgesOf(chart).map(
        ({ id, source, target }): ElkExtendedEdge => ({
          id,
          sources: [String(source)],
          targets: [String(target)],
          // follow source order, so that the main path runs in one direction
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
