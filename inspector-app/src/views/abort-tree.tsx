import type { Abort, Run } from '../model/model.ts'
import { useStore, useView } from '../use-view.ts'
import { duration, inline, toneOf } from '../words.ts'

const sources = { host: 'the host', executor: 'the executor', call: 'a call' } as const

/** The aborts: from the host's controller to the executor to each call, with the reason of each. */
export function AbortTree() {
  const { run } = useView()
  if (run === undefined) return null
  if (run.aborts.length === 0) return <p class="empty">No aborts.</p>
  return (
    <ol class="aborts">
      {run.aborts.map((abort) => (
        <AbortEntry key={abort.seq} run={run} abort={abort} />
      ))}
    </ol>
  )
}

function AbortEntry({ run, abort }: { run: Run; abort: Abort }) {
  const store = useStore()
  const { at, from, by, cause, reached, seq, layer } = abort
  const source = by === null ? undefined : run.byId.get(by)
  const shown = reached.slice(0, 60)
  return (
    <li class="abort">
      <div class="layer source">
        <span class="name">{source === undefined ? sources[from] : source.label}</span>
        <span class="what">
          {cause.description !== undefined && cause.description !== source?.label ? cause.description : ''}
        </span>
        <time>{duration(at - run.startedAt)}</time>
      </div>
      <div class="layer reason">
        <button
          type="button"
          class="link"
          title="Go to this moment"
          onClick={() => store.set({ position: store.history.positionOf(seq), isPlaying: false })}
        >
          {cause.kind}
        </button>
        {cause.reason !== cause.kind && <code>{inline(cause.reason, 80)}</code>}
        <span class="what">{layer === 'executor' ? 'reached the executor' : 'reached only the call'}</span>
      </div>
      <ul>
        {shown.map(({ call: id, event, seq: reachedSeq }) => {
          const call = run.byId.get(id)
          return (
            <li key={reachedSeq}>
              <span class={`dot ${call === undefined ? '' : toneOf(call)}`} />
              <button type="button" class="link" onClick={() => store.select(id)}>
                {call === undefined ? id : `#${call.index + 1} ${call.label}`}
              </button>
              <code>{event}</code>
              <span class="what">
                {call?.ending?.by === 'abort'
                  ? reachedWords(call.ending.reached)
                  : call?.ending === undefined
                    ? 'told'
                    : 'kept its own outcome'}
              </span>
            </li>
          )
        })}
        {reached.length > shown.length && <li class="more">and {reached.length - shown.length} more</li>}
        {reached.length === 0 && <li class="none">No unfinished calls.</li>}
      </ul>
    </li>
  )
}

function reachedWords(reached: string | null): string {
  const words: Record<string, string> = {
    notStarted: 'never started',
    underWay: 'stopped while it ran',
    cutShort: 'stopped early by itself',
    returned: 'returned after the abort',
    finished: 'finished despite the abort',
    abandoned: 'did not stop, abandoned',
  }
  return words[reached ?? ''] ?? 'stopped'
}
