import type { ChartDefinition } from '../../../src/inspect/index.ts'
import { type Box, childrenOf, type Layout, leafSize, rootOf } from './graph.ts'

const gap = 14
const head = 30

/** States in a column without edges: available at once, until the real layout is ready. */
export function quickLayout(chart: ChartDefinition): Layout {
  const boxes = new Map<number, Box>()
  const place = (id: number, x: number, y: number): { width: number; height: number } => {
    const node = chart.nodes.find((each) => each.id === id)
    const children = childrenOf(chart, id)
    if (node === undefined) return { width: 0, height: 0 }
    if (children.length === 0) {
      const size = leafSize(node)
      boxes.set(id, { x, y, ...size })
      return size
    }
    const isSideBySide = node.kind === 'parallel'
    let [width, height] = [0, 0]
    for (const child of children) {
      const size = place(child.id, x + gap + (isSideBySide ? width : 0), y + head + (isSideBySide ? 0 : height))
      width = isSideBySide ? width + size.width + gap : Math.max(width, size.width)
      height = isSideBySide ? Math.max(height, size.height) : height + size.height + gap
    }
    const size = { width: width + gap * (isSideBySide ? 1 : 2), height: height + head + (isSideBySide ? gap : 0) }
    boxes.set(id, { x, y, ...size })
    return size
  }
  const root = rootOf(chart)
  const size = root === undefined ? { width: 0, height: 0 } : place(root.id, 0, 0)
  if (root !== undefined) boxes.delete(root.id)
  return { ...size, boxes, lines: new Map() }
}
