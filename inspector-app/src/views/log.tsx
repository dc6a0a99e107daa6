import { useEffect, useRef, useState } from 'preact/hooks'
import type { Frame } from '../../../src/inspect/index.ts'
import { countBefore, LogIndex, type LogKind, rowOf, rowsIn } from '../model/log-index.ts'
import { useStore, useView } from '../use-view.ts'
import { VirtualList } from './virtual-list.tsx'

const kinds: readonly (LogKind | 'all')[] = ['all', 'event', 'step', 'result', 'abort', 'warning']

/** The log. A click on a row goes to its moment. */
export function Log() {
  const store = useStore()
  const { state, history, model, run } = useView()
  const [kind, setKind] = useState<LogKind | 'all'>('all')
  const [about, setAbout] = useState<'turn' | 'all' | undefined>()
  const index = useRef<LogIndex>()
  const search = useRef<HTMLInputElement>(null)
  const asked = useRef(0)
  useEffect(() => {
    if (state.searches > asked.current) search.current?.focus()
    asked.current = state.searches
  })
  if (run === undefined) return null
  // a selected time may contain parts of several turns
  const scope = about ?? (state.range !== undefined && model.runs.size > 1 ? 'all' : 'turn')
  const of = scope === 'all' ? undefined : run.id
  if (index.current?.isFor(history, of, kind, state.search) !== true) {
    index.current = new LogIndex(history, of, kind, state.search)
  }
  const rows = rowsIn(index.current.update().rows, history, state.range)
  const count = state.position === undefined ? rows.length : countBefore(rows, state.position)
  const start = scope === 'all' ? history.origin : run.startedAt
  return (
    <div class="log">
      <div class="filters">
        <input
          ref={search}
          id="search"
          type="search"
          placeholder="Search   /"
          aria-label="Search the log"
          value={state.search}
          onInput={({ currentTarget }) => store.set({ search: currentTarget.value })}
        />
        <select
          aria-label="Kind"
          value={kind}
          onChange={({ currentTarget }) => setKind(currentTarget.value as LogKind | 'all')}
        >
          {kinds.map((each) => (
            <option key={each} value={each}>
              {each === 'all' ? 'everything' : `${each}s`}
            </option>
          ))}
        </select>
        {model.runs.size > 1 && (
          <select
            aria-label="Log of"
            value={scope}
            onChange={({ currentTarget }) => setAbout(currentTarget.value as typeof scope)}
          >
            <option value="turn">this turn</option>
            <option value="all">all turns</option>
          </select>
        )}
        <output>{rows.length.toLocaleString('en')}</output>
      </div>
      <VirtualList
        count={rows.length}
        rowHeight={24}
        focus={count - 1}
        label="Log"
        row={(at) => {
          const position = rows[at] as number
          const frame = history.at(position) as Frame
          const own = history.model.runs.get(of ?? frame.run)
          const { kind: rowKind, at: time, who, what, detail, call, isError } = rowOf(own, frame, history.model)
          const isFuture = at >= count
          const isNow = at === count - 1 && state.position !== undefined
          return (
            <li
              key={position}
              class={`row ${rowKind}${isError === true ? ' wrong' : ''}${isFuture ? ' future' : ''}${isNow ? ' now' : ''}`}
            >
              <button
                type="button"
                onClick={() => {
                  store.set({
                    position: position + 1,
                    isPlaying: false,
                    ...(own !== undefined && scope === 'all' && { run: own.id }),
                    ...(call !== undefined && { selected: call }),
                  })
                }}
              >
                <time>{((time - start) / 1_000).toFixed(3)}</time>
                <span class="who">{scope === 'all' && own !== undefined ? `${own.title} · ${who}` : who}</span>
                <span class="what">{what}</span>
                <span class="detail">{detail}</span>
              </button>
            </li>
          )
        }}
      />
      {rows.length === 0 && (
        <p class="empty">
          {state.search !== '' || kind !== 'all' ? 'Nothing found' : 'Nothing happened'} in{' '}
          {scope === 'all' ? 'any' : 'this'} turn{state.range !== undefined && ' in the selected time'}.
        </p>
      )}
      {model.gaps.length > 0 && (
        <p class="gap">
          Missing frames, which the page did not receive: {model.gaps.reduce((sum, { lost }) => sum + lost, 0)}
        </p>
      )}
    </div>
  )
}
