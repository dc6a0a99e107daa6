import { firstChart } from '../model/first-chart.ts'
import type { Actor, Cast } from '../model/model.ts'
import { useStore, useView } from '../use-view.ts'
import { eventWords } from '../words.ts'

const marks = { passed: '✓', failed: '✗', notAsked: '·' } as const
const words = { passed: 'passed', failed: 'failed', notAsked: 'not asked' } as const

/** Each transition that was considered, and how its guard answered: not only the one that won. */
export function GuardLedger() {
  const { state, model, run, call } = useView()
  const first = firstChart(state, model, run)
  if (run === undefined || first === undefined) return null
  const own = call === undefined ? undefined : run.actors.get(call.actor)
  return (
    <div class="ledgers">
      <Ledger title={first.title} cast={first.cast} actor={first.actor} />
      <Ledger title={call === undefined ? 'Call' : `#${call.index + 1} ${call.label}`} cast={run} actor={own} />
    </div>
  )
}

function Ledger({ title, cast, actor }: { title: string; cast: Cast; actor: Actor | undefined }) {
  const store = useStore()
  const chart = cast.charts.get(actor?.chart ?? '')
  const entries = [...(actor?.ledger ?? [])].reverse()
  const keyOf = (id: number | undefined): string => chart?.nodes.find((node) => node.id === id)?.key ?? ''
  return (
    <section>
      <h3>{title}</h3>
      {entries.length === 0 && <p class="empty">No guard was asked yet.</p>}
      <ol class="ledger">
        {entries.map(({ seq, event, candidates }) => (
          <li key={seq}>
            <button
              type="button"
              class="link"
              title="Go to this moment"
              onClick={() => store.set({ position: store.history.positionOf(seq), isPlaying: false })}
            >
              {event === 'xstate.init' ? 'at its start' : eventWords(event)}
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
          </li>
        ))}
      </ol>
    </section>
  )
}
