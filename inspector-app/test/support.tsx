import { render } from 'preact'
import { page } from 'vitest/browser'
import type { ChartDefinition, Frame, FrameBody } from '../../src/inspect/index.ts'
import { App } from '../src/app.tsx'
import '../src/style.css'
import { Store, type StoreOptions } from '../src/store.ts'

export const chart: ChartDefinition = {
  id: 'call',
  nodes: [
    node(0, 'call', null, 'compound', 1),
    node(1, 'queued', 0),
    node(2, 'executing', 0, 'compound', 3),
    node(3, 'calling', 2),
    node(4, 'completed', 0, 'final'),
  ],
  transitions: [
    { id: 0, source: 1, event: 'call.start', guard: 'mayStart', targets: [3], actions: [] },
    { id: 1, source: 3, event: 'tool.settled', guard: null, targets: [4], actions: [] },
    { id: 2, source: 3, event: 'tool.progressed', guard: null, targets: [], actions: [] },
  ],
}

function node(id: number, key: string, parent: number | null, kind = 'atomic', initial: number | null = null) {
  return { id, key, parent, kind, initial, entry: [], exit: [], tags: [] } as ChartDefinition['nodes'][number]
}

export const start: FrameBody[] = [
  { type: 'head', version: 1, epoch: 0 },
  { type: 'run', title: 'a run', isLate: false, maxConcurrency: 3, root: 'x:0' },
  { type: 'chart', chart },
  { type: 'actor', actor: 'x:0', chart: 'none', parent: null, active: [], context: {} },
]

export const call = (
  id: string,
  index: number,
  more: Partial<Extract<FrameBody, { type: 'call' }>> = {},
): FrameBody[] => [
  { type: 'actor', actor: `actor-${id}`, chart: 'call', parent: 'x:0', active: [0, 1], context: {} },
  {
    type: 'call',
    call: id,
    actor: `actor-${id}`,
    index,
    name: 'Read',
    label: `Read(${id})`,
    input: { file_path: id },
    lane: 'shared',
    stopsAtInterrupt: true,
    stage: 'queued',
    ...more,
  },
]

/** The page with these frames, ten milliseconds apart. */
export const show = (...bodies: FrameBody[]) => showWith({}, ...bodies)

export function showWith(
  options: StoreOptions,
  ...bodies: FrameBody[]
): { store: Store; push: (...more: FrameBody[]) => void } {
  const store = new Store(options)
  store.set({ tab: 'log' })
  let seq = 0
  const push = (...more: FrameBody[]): void => {
    store.take(more.map((body): Frame => ({ seq, at: seq++ * 10, run: body.type === 'head' ? 0 : 1, ...body })))
  }
  document.body.innerHTML = '<div id="app"></div>'
  void page.viewport(1440, 900)
  render(<App store={store} />, document.getElementById('app') as HTMLElement)
  push(...bodies)
  return { store, push }
}

export const texts = (selector: string): string[] =>
  Array.from(document.querySelectorAll(selector), (element) => (element.textContent ?? '').trim().replace(/\s+/g, ' '))

export const query = (selector: string): Element | null => document.querySelector(selector)
