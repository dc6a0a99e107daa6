import { firstChart } from '../model/first-chart.ts'
import type { Actor, Cast, Run } from '../model/model.ts'
import { useStore, useView } from '../use-view.ts'
import { eventWords, refusalWords } from '../words.ts'

const marks = { passed: '✓', failed: '✗', notAsked: '·' } as const
const words = { passed: 'passed', failed: 'failed', notAsked: 'not evaluated' } as const

const unavailable =
  'Guard results are unavailable: this run uses plain XState, which does not report them. Use the engine "table" to see them.'

/** Every transition that was considered, with the result of its guard. */
export function GuardLedger() {
  const { state, model, run, call } = useView()
  const first = firstChart(state, model, run)
  if (run === undefined || first === undefined) return null
  if (!run.tellsGuards) return <p class="empty">{unavailable}</p>
  const own = call === undefined ? undefined : run.actors.get(call.actor)
  return (
    <div class="ledgers">
      <Ledger title={first.title} cast={first.cast} actor={first.actor} run={run} />
      <Ledger
        title={call === undefined ? 'Call' : `#${call.index + 1} ${call.label}`}
        cast={run}
        actor={own}
        run={run}
      />
    </div>
  )
}

function Ledger({ title, cast, actor, run }: { title: string; cast: Cast; actor: Actor | undefined; run: Run }) {
  const store = useStore()
  const chart = cast.charts.get(actor?.chart ?? '')
  const entries = [...(actor?.ledger ?? [])].reverse()
  const keyOf = (id: number | undefined): string => chart?.nodes.find((node) => node.id === id)?.key ?? ''
  return (
    <section>
      <h3>{title}</h3>
      {entries.length === 0 && <p class="empty">No guards evaluated yet.</p>}
      <ol class="ledger">
        {entries.map(({ seq, event, candidates, refusal }) => (
          <li key={seq}>
            <button
              type="button"
              class="link"
              title="Go to this moment"
              onClick={() => store.set({ position: store.history.positionOf(seq), isPlaying: false })}
            >
              {event === 'xstate.init' ? 'at start' : eventWords(event)}
            </button>
            <ul>
              {candidates.map(([id, answer]) => {
                const transition = chart?.transitions[id]
                const target = transition?.targets[0]
                return (
                  <li key={id} class={answer}>
                    <span class="mark" role="img" aria-label={words[answer]}>
                      {marks[answer]}
                    </span>
                    <span class="guard">{transition?.guard ?? 'no guard'}</span>
                    <span class="way">
                      {keyOf(transition?.source)} → {target === undefined ? 'stays' : keyOf(target)}
                    </span>
                  </li>
                )
              })}
            </ul>
            {refusal !== undefined && <p class="refusal">{refusalWords(run, refusal)}</p>}
          </li>
        ))}
      </ol>
    </section>
  )
}
