import ELK from 'elkjs/lib/elk-api.js'
import type { ChartDefinition } from '../../../src/inspect/index.ts'
import { type Keep, keepNothing } from '../keep.ts'
import { readLayout, toElk } from './elk-graph.ts'
import { type Layout, layoutKey } from './graph.ts'
import { quickLayout } from './quick-layout.ts'

export type StartWorker = () => Worker | Promise<Worker>

/** A separate file beside the page. */
export const workerBesidePage: StartWorker = () => new Worker(new URL('elk/elk-worker.min.js', document.baseURI))

/** Computes the layout of each chart once, in a worker that starts when needed. */
export class Layouts {
  readonly #start: StartWorker
  readonly #keep: Keep
  readonly #found = new Map<string, Layout>()
  readonly #pending = new Map<string, Set<() => void>>()
  readonly #quick = new WeakMap<ChartDefinition, Layout>()
  #elk: Promise<InstanceType<typeof ELK>> | undefined
  #worker: Worker | undefined
  #age = 0

  constructor(start: StartWorker = workerBesidePage, keep: Keep = keepNothing) {
    this.#start = start
    this.#keep = keep
  }

  /** The current layout; `onReady` is called when the worker has a better one. */
  of(chart: ChartDefinition, onReady: () => void): Layout {
    const key = layoutKey(chart)
    const found = this.#found.get(key) ?? this.#remembered(key)
    if (found !== undefined) return found
    const waiting = this.#pending.get(key)
    waiting?.add(onReady)
    if (waiting === undefined) this.#find(key, chart, onReady)
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

  #find(key: string, chart: ChartDefinition, onReady: () => void): void {
    const told = new Set([onReady])
    this.#pending.set(key, told)
    void this.#layOut(chart)
      .then((layout) => {
        this.#found.set(key, layout)
        this.#remember(key, layout)
        if (this.#pending.get(key) === told) this.#pending.delete(key)
        for (const tell of told) tell()
      })
      // without a worker, the quick layout stays
      .catch(() => told.clear())
  }

  async #layOut(chart: ChartDefinition): Promise<Layout> {
    this.#elk ??= this.#open()
    const elk = await this.#elk
    return readLayout(await elk.layout(toElk(chart)))
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
      if (kept?.key !== key) return undefined
      const layout: Layout = { ...kept, boxes: new Map(kept.boxes), lines: new Map(kept.lines) }
      this.#found.set(key, layout)
      return layout
    } catch {
      return undefined
    }
  }

  #remember(key: string, { width, height, boxes, lines }: Layout): void {
    const kept = { key, width, height, boxes: [...boxes], lines: [...lines] }
    this.#keep.write(`layout.${hashOf(key)}`, JSON.stringify(kept))
  }
}

function hashOf(text: string): string {
  let hash = 5381
  for (let at = 0; at < text.length; at++) hash = (hash * 33) ^ text.charCodeAt(at)
  return (hash >>> 0).toString(36)
}
