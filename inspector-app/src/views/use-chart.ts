import type { RefObject } from 'preact'
import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ChartDefinition } from '../../../src/inspect/index.ts'
import { type Box, fitOf, type Layout, type Room } from '../chart/graph.ts'
import type { Actor } from '../model/model.ts'
import { useStore } from '../use-view.ts'
import { usePanZoom } from './use-pan-zoom.ts'

interface ShownChart extends ReturnType<typeof usePanZoom> {
  readonly ref: RefObject<SVGSVGElement>
  readonly layout: Layout | undefined
  /** A layout that fits better may come. */
  readonly isBusy: boolean
  /** Pixels per unit of the layout. */
  readonly fit: number
}

/** A chart, laid out for the shape of its panel. */
export function useChart(chart: ChartDefinition | undefined, actor: Actor | undefined): ShownChart {
  const store = useStore()
  const ref = useRef<SVGSVGElement>(null)
  const room = useRoom(ref)
  const [, redraw] = useState(0)
  const onLayout = useCallback(() => redraw((count) => count + 1), [])
  const layout = chart === undefined ? undefined : store.layouts.of(chart, room, onLayout)
  const zoom = usePanZoom(ref, layout ?? { width: 1, height: 1 }, room, chart && focusOf(chart, layout, actor))
  const isBusy = chart !== undefined && store.layouts.isBusyWith(chart)
  return { ref, layout, isBusy, fit: fitOf(zoom.box, room), ...zoom }
}

/** The active states that have no others inside. Undefined without an actor: then the whole chart matters. */
function focusOf(chart: ChartDefinition, layout: Layout | undefined, actor: Actor | undefined): Box[] | undefined {
  const active = new Set(actor?.active)
  const parents = new Set(chart.nodes.map(({ parent }) => parent))
  return actor && [...active].flatMap((id) => (parents.has(id) ? [] : (layout?.boxes.get(id) ?? [])))
}

/** The size of an element, while it changes. */
function useRoom(ref: RefObject<Element>): Room {
  const [room, setRoom] = useState<Room>({ width: 300, height: 400 })
  useLayoutEffect(() => {
    const element = ref.current
    if (element === null) return
    const measure = (): void => {
      const { width, height } = element.getBoundingClientRect()
      if (width > 0 && height > 0) setRoom({ width, height })
    }
    measure()
    const watch = new ResizeObserver(measure)
    watch.observe(element)
    return () => watch.disconnect()
  }, [ref])
  return room
}
