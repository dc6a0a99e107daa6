import type { Abort, Run } from '../model/model.ts'
import { ofAllRuns } from '../model/of-all-runs.ts'
import { useStore, useView } from '../use-view.ts'
import { duration, inline, toneOf } from '../words.ts'
import { TurnName } from './turn-name.tsx'

/** More would take the page too long to render. */
const most = 200

const sources = { host: 'the host', executor: 'the executor', call: 'a call' } as const

/** The aborts of every turn: from the host's controller to the executor to each call, with the reason of each. */
export function AbortTree() {
  const { model, state } = useView()
  const found = ofAllRuns(model, ({ aborts }) => aborts, state.range)
  if (found.length === 0)
    return <p class="empty">{state.range === undefined ? 'No aborts.' : 'No aborts in the selected time.'}</p>
  return (
    <ol class="aborts">
      {found.slice(0, most).map(({ run, entry }) => (
        <AbortEntry key={entry.seq} run={run} abort={entry} />
      ))}
      {found.length > most && <li class="more">and {found.length - most} more</li>}
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
        <TurnName run={run} />
        <time>{duration(at - run.startedAt)}</time>
      </div>
      <div class="layer reason">
        <button type="button" class="link" title="Go to this moment" onClick={() => store.goTo(seq, { run: run.id })}>
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
              <button type="button" class="link" onClick={() => store.choose(run.id, id)}>
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
    cutShort: 'its body stopped early',
    returned: 'returned after the abort',
    finished: 'finished despite the abort',
    abandoned: 'did not stop, abandoned',
  }
  return words[reached ?? ''] ?? 'stopped'
}
