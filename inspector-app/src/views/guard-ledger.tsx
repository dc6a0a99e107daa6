import { useState } from 'preact/hooks'
import { firstChart } from '../model/first-chart.ts'
import type { Actor, Call, Cast, Refused, Run } from '../model/model.ts'
import { ofAllRuns } from '../model/of-all-runs.ts'
import { isIn } from '../model/time-range.ts'
import { useStore, useView } from '../use-view.ts'
import { duration, eventWords, refusalWords, whyWaiting } from '../words.ts'
import { TurnName } from './turn-name.tsx'

const marks = { passed: '✓', failed: '✗', notAsked: '·' } as const
const words = { passed: 'passed', failed: 'failed', notAsked: 'not evaluated' } as const

const unavailable =
  'Guard results are unavailable: this run uses plain XState, which does not report them. Use the engine "table" to see them.'

/** Each call that a guard refused, and every transition that was considered with the result of its guard. */
export function GuardLedger() {
  const { state, model, run, call } = useView()
  const first = firstChart(state, model, run)
  if (run === undefined || first === undefined) return null
  if (!run.tellsGuards) return <p class="empty">{unavailable}</p>
  const own = call === undefined ? undefined : run.actors.get(call.actor)
  return (
    <>
      <Refusals chosen={call} />
      <div class="ledgers">
        <Ledger title={first.title} cast={first.cast} actor={first.actor} run={run} />
        <Ledger
          title={call === undefined ? 'Call' : `#${call.index + 1} ${call.label}`}
          cast={run}
          actor={own}
          run={run}
        />
      </div>
    </>
  )
}

/** Why calls of any turn may not start: call, reason, the calls in the way, and the resource. Newest first. */
function Refusals({ chosen }: { chosen: Call | undefined }) {
  const store = useStore()
  const { isChosen, state, model } = useView()
  const [isOne, setOne] = useState(false)
  const only = isOne && isChosen ? chosen?.id : undefined
  const found = ofAllRuns(model, ({ refusals }) => refusals, state.range)
    .filter(({ entry }) => only === undefined || entry.refusal.call === only)
    .reverse()
  const shown = found.slice(0, mostRefusals)
  const gone = [...model.runs.values()].reduce((sum, { refused, refusals }) => sum + refused - refusals.length, 0)
  // of one call, or of a part of the time, it is not known how many are gone
  const all = found.length + (only === undefined && state.range === undefined ? gone : 0)
  return (
    <section class="refusals" aria-label="Refusals">
      <h3>
        Refusals <em>{found.length}</em>
        {isChosen && (
          <button type="button" class="other" aria-pressed={isOne} onClick={() => setOne(!isOne)}>
            {isOne ? 'all calls' : `only #${(chosen?.index ?? 0) + 1}`}
          </button>
        )}
      </h3>
      {shown.length === 0 && <p class="empty">No call was refused.</p>}
      {shown.length < all && (
        <p class="empty">
          The newest {shown.length.toLocaleString('en')} of {all.toLocaleString('en')} refusals. Move the time bar back
          to see the others.
        </p>
      )}
      <ol>
        {shown.map(({ run, entry: each }) => (
          <li key={each.seq}>
            <button
              type="button"
              class="link moment"
              title="Go to this moment: the chart shows the refused edge"
              onClick={() => store.goTo(each.seq, { first: 'executor', run: run.id })}
            >
              {duration(each.at - run.startedAt)}
            </button>
            <div>
              <CallLink run={run} id={each.refusal.call} /> {whyWaiting(run, each.refusal)} <TurnName run={run} />
              <dl>
                <dt>rule</dt>
                <dd>
                  <code>{each.refusal.because}</code>
                </dd>
                <dt>guard</dt>
                <dd>
                  <code>{guardsOf(run, each)}</code>
                </dd>
                {each.refusal.blockers.length > 0 && (
                  <>
                    <dt>blocked by</dt>
                    <dd class="blockers">
                      {each.refusal.blockers.slice(0, maxBlockers).map((id) => (
                        <CallLink key={id} run={run} id={id} />
                      ))}
                      {each.refusal.blockers.length > maxBlockers &&
                        ` and ${each.refusal.blockers.length - maxBlockers} more`}
                    </dd>
                  </>
                )}
                {each.refusal.key !== undefined && (
                  <>
                    <dt>resource</dt>
                    <dd>
                      <code>{each.refusal.key}</code>
                    </dd>
                  </>
                )}
              </dl>
            </div>
          </li>
        ))}
      </ol>
    </section>
  )
}

/** More would take the page too long to render. */
const mostRefusals = 200
const maxBlockers = 12

/** The guards that said no, and the way that they closed. */
function guardsOf(run: Run, { actor, candidates }: Refused): string {
  const chart = run.charts.get(run.actors.get(actor)?.chart ?? '')
  const keyOf = (id: number | undefined): string => chart?.nodes.find((node) => node.id === id)?.key ?? ''
  return candidates
    .filter(([, answer]) => answer === 'failed')
    .flatMap(([id]) => chart?.transitions[id] ?? [])
    .map(({ guard, source, targets }) => `${guard ?? 'no guard'}: ${keyOf(source)} → ${keyOf(targets[0] ?? source)}`)
    .join(', ')
}

function CallLink({ run, id }: { run: Run; id: string }) {
  const store = useStore()
  const call = run.byId.get(id)
  if (call === undefined) return <code>{id}</code>
  return (
    <button type="button" class="link" onClick={() => store.choose(run.id, id)}>
      #{call.index + 1} {call.label}
    </button>
  )
}

function Ledger({ title, cast, actor, run }: { title: string; cast: Cast; actor: Actor | undefined; run: Run }) {
  const store = useStore()
  const chart = cast.charts.get(actor?.chart ?? '')
  const { state } = useView()
  const entries = (actor?.ledger ?? []).filter(({ at }) => isIn(state.range, at)).reverse()
  const keyOf = (id: number | undefined): string => chart?.nodes.find((node) => node.id === id)?.key ?? ''
  return (
    <section>
      <h3>{title}</h3>
      {entries.length === 0 && <p class="empty">No guards evaluated yet.</p>}
      <ol class="ledger">
        {entries.map(({ seq, event, candidates, refusal }) => (
          <li key={seq}>
            <button type="button" class="link" title="Go to this moment" onClick={() => store.goTo(seq)}>
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
