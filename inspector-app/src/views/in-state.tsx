import type { ChartDefinition } from '../../../src/inspect/index.ts'
import { callsOfGate } from '../model/calls-in-state.ts'
import type { FirstChart } from '../model/first-chart.ts'
import type { Actor, Call, Cast } from '../model/model.ts'
import { useStore, useView } from '../use-view.ts'
import { duration } from '../words.ts'
import { Icon } from './icons.tsx'
import { useNow } from './use-now.ts'

const maxShown = 100

interface Props {
  readonly chart: ChartDefinition
  readonly kind: FirstChart['kind'] | 'call' | 'background'
  readonly cast: Cast
  readonly actor: Actor | undefined
  readonly picked: number
  readonly pick: (state: number | undefined) => void
  /** Of the call chart. */
  readonly inStates: ReadonlyMap<number, readonly Call[]> | undefined
}

/** The calls that are in a state of a chart. */
export function InState({ chart, kind, actor, picked, pick, inStates }: Props) {
  const store = useStore()
  const { run } = useView()
  const now = useNow()
  const states = chart.nodes.filter(({ parent }) => parent !== null)
  const key = states.find(({ id }) => id === picked)?.key ?? ''
  const isActive = actor?.active.includes(picked) === true
  const ofExecutor = kind === 'executor' && isActive && run !== undefined ? callsOfGate(run, key) : []
  const calls = inStates?.get(picked) ?? ofExecutor
  return (
    <section class="in-state" aria-label="Calls in a state">
      <header>
        <select aria-label="State" value={picked} onChange={({ currentTarget }) => pick(Number(currentTarget.value))}>
          {states.map(({ id, key: name }) => {
            const count = inStates?.get(id)?.length ?? 0
            return (
              <option key={id} value={id}>
                {count === 0 ? name : `${name} (${count})`}
              </option>
            )
          })}
        </select>
        <button type="button" aria-label="Close the list" onClick={() => pick(undefined)}>
          <Icon name="cross" />
        </button>
      </header>
      <p>
        {inStates === undefined ? (isActive ? 'Active now. ' : 'Not active now. ') : ''}
        {calls.length === 0
          ? kind === 'call' || kind === 'executor'
            ? 'No call is here.'
            : ''
          : `${calls.length === 1 ? 'One call is' : `${calls.length.toLocaleString('en')} calls are`} here:`}
      </p>
      <ol>
        {calls.slice(0, maxShown).map((call) => (
          <li key={call.id}>
            <button type="button" class="link" onClick={() => store.select(call.id)}>
              #{call.index + 1} {call.label}
            </button>
            <time>{duration(now - (call.segments.at(-1)?.from ?? now))}</time>
          </li>
        ))}
        {calls.length > maxShown && <li>and {calls.length - maxShown} more</li>}
      </ol>
    </section>
  )
}
