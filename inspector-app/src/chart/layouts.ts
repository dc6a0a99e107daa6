import ELK from 'elkjs/lib/elk-api.js'
import type { ChartDefinition } from '../../../src/inspect/index.ts'
import { type Keep, keepNothing } from '../keep.ts'
import { readLayout, toElk, type Way } from './elk-graph.ts'
import { fitOf, type Layout, layoutKey, margin, type Room, readableFit } from './graph.ts'
import { type PackedLayout, packLayout, unpackLayout } from './packed-layout.ts'
import { quickLayout } from './quick-layout.ts'

export type StartWorker = () => Worker | Promise<Worker>

/** A separate file beside the page. */
const workerBesidePage: StartWorker = () => new Worker(new URL('elk/elk-worker.min.js', document.baseURI))

/** Layouts that need no worker, by chart. */
export type ReadyLayouts = Readonly<Record<string, Partial<Readonly<Record<Way, PackedLayout>>>>>

export interface LayoutOptions {
  readonly start?: StartWorker
  readonly keep?: Keep
  readonly ready?: ReadyLayouts
}

/** From this size on, a layout with room for labels is worth trying. */
const largeFit = 1.15

/** Chooses the layout that fits best. A worker computes the others once; it starts when it is needed. */
export class Layouts {
  readonly #start: StartWorker
  readonly #keep: Keep
  readonly #ready: ReadyLayouts
  readonly #found = new Map<string, Layout>()
  readonly #pending = new Map<string, Set<() => void>>()
  readonly #quick = new WeakMap<ChartDefinition, Layout>()
  #elk: Promise<InstanceType<typeof ELK>> | undefined
  #worker: Worker | undefined
  #age = 0

  constructor({ start = workerBesidePage, keep = keepNothing, ready = {} }: LayoutOptions = {}) {
    this.#start = start
    this.#keep = keep
    this.#ready = ready
  }

  /** The largest known layout for the room; `onReady` is called when the worker has another one. */
  of(chart: ChartDefinition, room: Room, onReady: () => void): Layout {
    const key = layoutKey(chart)
    const isTall = room.height >= room.width
    const [first, ...others] = isTall ? tall : wide
    const found = this.#find(key, first, chart, onReady)
    if (found === undefined) return this.#quickly(chart)
    const all = (those: readonly Way[]) => those.flatMap((way) => this.#find(key, way, chart, onReady) ?? [])
    const best = largest([found, ...all(others)], room)
    if (fitIn(room, best) < readableFit) return largest([best, ...all(compact)], room)
    if (fitIn(room, best) < largeFit) return best
    const spacious = all(roomy)
    const readable = spacious.filter((each) => fitIn(room, each) >= readableFit)
    return readable.length === 0 ? best : largest(readable, room)
  }

  /** Whether the worker still computes a layout of the chart. */
  isBusyWith(chart: ChartDefinition): boolean {
    if (this.#pending.size === 0) return false
    const key = layoutKey(chart)
    return [...this.#pending].some(([each, told]) => told.size > 0 && each.startsWith(`${key}|`))
  }

  #quickly(chart: ChartDefinition): Layout {
    const quick = this.#quick.get(chart) ?? quickLayout(chart)
    this.#quick.set(chart, quick)
    return quick
  }

  /** Ends the worker. Layouts stay cached; the next request starts a new worker. */
  close(): void {
    this.#age++
    this.#worker?.terminate()
    this.#worker = undefined
    this.#elk = undefined
    this.#pending.clear()
  }

  #find(chartKey: string, way: Way, chart: ChartDefinition, onReady: () => void): Layout | undefined {
    const key = `${chartKey}|${way}`
    const found = this.#found.get(key) ?? this.#unpacked(key, this.#ready[chartKey]?.[way]) ?? this.#remembered(key)
    if (found !== undefined) return found
    const waiting = this.#pending.get(key)
    if (waiting === undefined) this.#begin(key, chart, way, onReady)
    else waiting.add(onReady)
    return undefined
  }

  #begin(key: string, chart: ChartDefinition, way: Way, onReady: () => void): void {
    const told = new Set([onReady])
    this.#pending.set(key, told)
    void this.#layOut(chart, way)
      .then((layout) => {
        this.#found.set(key, layout)
        this.#remember(key, layout)
        if (this.#pending.get(key) === told) this.#pending.delete(key)
        for (const tell of told) tell()
      })
      // without a worker, the quick layout stays
      .catch(() => told.clear())
  }

  async #layOut(chart: ChartDefinition, way: Way): Promise<Layout> {
    this.#elk ??= this.#open()
    const elk = await this.#elk
    return readLayout(await elk.layout(toElk(chart, way)))
  }

  async #open(): Promise<InstanceType<typeof ELK>> {
    const age = this.#age
    const worker = await this.#start()
    if (age !== this.#age) {
      worker.terminate()
      throw new Error('closed while it was started')
    }
    this.#worker = worker
    return new ELK({ workerFactory: () => worker })
  }

  #remembered(key: string): Layout | undefined {
    try {
      const kept = JSON.parse(this.#keep.read(`layout.${hashOf(key)}`) ?? 'null')
      return kept?.key === key ? this.#unpacked(key, kept.layout) : undefined
    } catch {
      return undefined
    }
  }

  #unpacked(key: string, packed: PackedLayout | undefined): Layout | undefined {
    if (packed === undefined) return undefined
    const layout = unpackLayout(packed)
    this.#found.set(key, layout)
    return layout
  }

  #remember(key: string, layout: Layout): void {
    this.#keep.write(`layout.${hashOf(key)}`, JSON.stringify({ key, layout: packLayout(layout) }))
  }
}

const tall: readonly [Way, ...Way[]] = ['down', 'ordered', 'right']
const wide: readonly [Way, ...Way[]] = ['right', 'ordered', 'down']
const roomy: readonly Way[] = ['roomyDown', 'roomyRight']
const compact: readonly Way[] = ['compactDown', 'compactRight']

/** With its margin, as it is drawn. */
const fitIn = (room: Room, { width, height }: Layout): number =>
  fitOf({ width: width + 2 * margin, height: height + 2 * margin }, room)

const largest = (layouts: readonly Layout[], room: Room): Layout =>
  layouts.reduce((best, each) => (fitIn(room, each) > fitIn(room, best) ? each : best))

function hashOf(text: string): string {
  let hash = 5381
  for (let at = 0; at < text.length; at++) hash = (hash * 33) ^ text.charCodeAt(at)
  return (hash >>> 0).toString(36)
}
