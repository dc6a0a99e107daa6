import ELK, { type ElkExtendedEdge, type ElkNode } from 'elkjs/lib/elk-api.js'
import type { ChartDefinition } from '../../../src/inspect/index.ts'
import { type Box, childrenOf, edgesOf, type Layout, layoutKey, leafSize, rootOf } from './graph.ts'
import { quickLayout } from './quick-layout.ts'

const layouts = new Map<string, Layout>()
const pending = new Map<string, Set<() => void>>()
const quicks = new WeakMap<ChartDefinition, Layout>()

/** The layout as far as it is known; `onReady` is called when the worker has found the better one. */
export function layoutOf(chart: ChartDefinition, onReady: () => void): Layout {
  const key = layoutKey(chart)
  const found = layouts.get(key) ?? remembered(key)
  if (found !== undefined) return found
  const waiting = pending.get(key)
  waiting?.add(onReady)
  if (waiting === undefined) {
    const told = new Set([onReady])
    pending.set(key, told)
    void layOut(chart)
      .then((layout) => {
        layouts.set(key, layout)
        remember(key, layout)
        for (const tell of told) tell()
      })
      // without a worker the states are still there, one below the other
      .catch(() => undefined)
  }
  const quick = quicks.get(chart) ?? quickLayout(chart)
  quicks.set(chart, quick)
  return quick
}

let elk: InstanceType<typeof ELK> | undefined

async function layOut(chart: ChartDefinition): Promise<Layout> {
  elk ??= new ELK({ workerUrl: new URL('elk/elk-worker.min.js', document.baseURI).href })
  return readLayout(await elk.layout(toElk(chart)))
}

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

function toElk(chart: ChartDefinition): ElkNode {
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
  // regions side by side would be small: a line that is never drawn puts one below the other
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
          // along the order in which the chart is written, so that its main way reads from top to bottom
          layoutOptions: { 'elk.layered.priority.direction': source < target ? '10' : '0' },
        }),
      ),
    ],
  }
}

function readLayout(graph: ElkNode): Layout {
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

const prefix = 'signalbox.layout.'

function remembered(key: string): Layout | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(prefix + hashOf(key)) ?? 'null')
    if (kept?.key !== key) return undefined
    const layout: Layout = { ...kept, boxes: new Map(kept.boxes), lines: new Map(kept.lines) }
    layouts.set(key, layout)
    return layout
  } catch {
    return undefined
  }
}

function remember(key: string, { width, height, boxes, lines }: Layout): void {
  try {
    localStorage.setItem(
      prefix + hashOf(key),
      JSON.stringify({ key, width, height, boxes: [...boxes], lines: [...lines] }),
    )
  } catch {
    // a full store only means that it is laid out again next time
  }
}

function hashOf(text: string): string {
  let hash = 5381
  for (let at = 0; at < text.length; at++) hash = (hash * 33) ^ text.charCodeAt(at)
  return (hash >>> 0).toString(36)
}
