import { useRef, useState } from 'preact/hooks'
import type { EventFrame } from '../../../src/inspect/index.ts'
import { countBefore, LogIndex, nameOfActor, rowsIn } from '../model/log-index.ts'
import { useStore, useView } from '../use-view.ts'
import { VirtualList } from './virtual-list.tsx'

const rowHeight = 26
const [hostX, executorX, firstX] = [34, 118, 214]

/** A sequence diagram: a line per actor, an arrow per event. Only calls in the visible rows have a line. */
export function Sequence() {
  const store = useStore()
  const { state, history, run } = useView()
  const index = useRef<LogIndex>()
  const [[from, to], setRange] = useState<[number, number]>([0, 40])
  if (run === undefined) return null
  if (index.current?.isFor(history, run.id, 'event', '') !== true)
    index.current = new LogIndex(history, run.id, 'event', '')
  const rows = rowsIn(index.current.update().rows, history, state.range)
  const names = history.model.runs.get(run.id)
  const count = state.position === undefined ? rows.length : countBefore(rows, state.position)
  const frameAt = (at: number): EventFrame | undefined => {
    const frame = history.at(rows[at] ?? -1)
    return frame?.type === 'event' ? frame : undefined
  }
  const calls = new Set<string>()
  for (let at = from; at < Math.min(to, rows.length); at++) {
    const frame = frameAt(at)
    for (const id of [frame?.from, frame?.to]) if (id != null && id !== run.root) calls.add(id)
  }
  const shown = [...calls].sort((a, b) => indexOf(names, a) - indexOf(names, b))
  const spread = Math.max(40, Math.min(96, 380 / Math.max(1, shown.length)))
  const xOf = (id: string | null): number =>
    id === null ? hostX : id === run.root ? executorX : firstX + Math.max(0, shown.indexOf(id)) * spread
  const width = Math.max(480, firstX + shown.length * spread + 140)
  return (
    <div class="sequence">
      <div class="heads" style={{ width: `${width}px` }}>
        {[null, run.root, ...shown].map((id) => (
          <span key={id ?? 'host'} style={{ left: `${xOf(id)}px` }}>
            {id === null ? 'host' : nameOfActor(names, id)}
          </span>
        ))}
      </div>
      <VirtualList
        count={rows.length}
        rowHeight={rowHeight}
        focus={count - 1}
        label="Sequence of events"
        onRange={(first, last) => setRange([first, last])}
        row={(at) => {
          const frame = frameAt(at)
          if (frame === undefined) return <li key={at} class="arrow" />
          const [a, b] = [xOf(frame.from), xOf(frame.to)]
          const text = `${nameOfActor(names, frame.from)} → ${nameOfActor(names, frame.to)}: ${frame.event}`
          return (
            <li key={at} class={`arrow${at >= count ? ' future' : ''}`}>
              <button
                type="button"
                aria-label={text}
                onClick={() => store.set({ position: (rows[at] as number) + 1, isPlaying: false })}
              >
                <svg width={width} height={rowHeight} aria-hidden="true">
                  {[null, run.root, ...shown].map((id) => (
                    <line key={id ?? 'host'} class="life" x1={xOf(id)} x2={xOf(id)} y1="0" y2={rowHeight} />
                  ))}
                  <line class="way" x1={a} x2={b} y1={rowHeight - 7} y2={rowHeight - 7} />
                  <path class="tip" d={`M${b} ${rowHeight - 7} l${a <= b ? -6 : 6} -3.500 v7 z`} />
                  <text x={Math.min(a, b) + 8} y={rowHeight - 12}>
                    {frame.event}
                  </text>
                </svg>
              </button>
            </li>
          )
        }}
      />
    </div>
  )
}

function indexOf(run: Parameters<typeof nameOfActor>[0], actor: string): number {
  return run?.byActor.get(actor)?.index ?? -1
}
