import { useState } from 'preact/hooks'
import { rangeTotals } from '../model/range-totals.ts'
import { isIn } from '../model/time-range.ts'
import type { Told } from '../story/narrator.ts'
import { useStory } from '../story/use-story.ts'
import { useStore, useView } from '../use-view.ts'
import { rangeWords } from '../words.ts'

const most = 300

/** The story of a run: sentences with their rules, the newest first. A click goes to the moment. */
export function StoryView() {
  const { state, history, run, model, call, isChosen } = useView()
  const { told, forgotten } = useStory()
  const [about, setAbout] = useState<'turn' | 'call' | 'all' | undefined>()
  if (run === undefined) return null
  // a selected time may contain parts of several turns
  const usual = state.range !== undefined && model.runs.size > 1 ? 'all' : 'turn'
  const scope = about === undefined || (about === 'call' && !isChosen) ? usual : about
  const found = told.filter((each) => isIn(state.range, each.at) && isAbout(each, scope, run.id, call?.id))
  const shown = found.slice(-most).reverse()
  return (
    <div class="story">
      <div class="filters">
        <select
          aria-label="Story of"
          value={scope}
          onChange={({ currentTarget }) => setAbout(currentTarget.value as typeof scope)}
        >
          <option value="turn">this turn</option>
          {isChosen && <option value="call">#{(call?.index ?? 0) + 1} only</option>}
          {model.runs.size > 1 && <option value="all">all turns</option>}
        </select>
        <output>{found.length.toLocaleString('en')} sentences</output>
      </div>
      {state.range !== undefined && <p class="in-range">{rangeWords(rangeTotals(model, state.range))}</p>}
      <Sentences told={shown} startedAt={scope === 'all' ? history.origin : run.startedAt} isOfAll={scope === 'all'} />
      {found.length === 0 && (
        <p class="empty">
          {state.range === undefined ? 'Nothing has happened yet.' : 'Nothing happened in the selected time.'}
        </p>
      )}
      {found.length > most && <p class="empty">and {(found.length - most).toLocaleString('en')} earlier ones</p>}
      {forgotten > 0 && (
        <p class="empty" role="note">
          {forgotten.toLocaleString('en')} sentences before these are no longer kept.
        </p>
      )}
    </div>
  )
}

function isAbout(told: Told, scope: 'turn' | 'call' | 'all', run: number, call: string | undefined): boolean {
  // what is missing may be about any call
  if (scope === 'all' || told.rule === undefined) return true
  return told.run === run && (scope === 'turn' || told.call === call)
}

interface SentencesProps {
  readonly told: readonly Told[]
  readonly startedAt: number
  /** Calls of several turns have the same numbers: each sentence names its turn. */
  readonly isOfAll?: boolean
}

export function Sentences({ told, startedAt, isOfAll = false }: SentencesProps) {
  const store = useStore()
  const { model } = useView()
  const first = store.history.at(store.history.start)?.seq ?? 0
  return (
    <ol class="sentences" aria-label="What happened and why">
      {told.map(({ at, seq, run, call, text, rule }) => (
        <li key={`${seq} ${text}`} class={rule === undefined ? 'missing' : undefined}>
          <button
            type="button"
            title={seq < first ? 'This moment is no longer kept' : 'Go to this moment'}
            disabled={seq < first}
            onClick={() =>
              store.goTo(seq, { ...(run !== 0 && { run }), ...(call !== undefined && { selected: call }) })
            }
          >
            <time>{((at - startedAt) / 1_000).toFixed(2)}</time>
            <span>
              {isOfAll && model.runs.has(run) && <i class="turn-name">{model.runs.get(run)?.title}</i>}
              {text}
            </span>
            {rule !== undefined && <abbr title={`Rule ${rule} of the contract`}>{rule}</abbr>}
          </button>
        </li>
      ))}
    </ol>
  )
}
