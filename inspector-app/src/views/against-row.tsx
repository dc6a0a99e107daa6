import type { CallTimes, ComparedCall, ComparedRuns, Parting } from '../../../src/inspect/index.ts'
import { useStore, useView } from '../use-view.ts'
import { duration } from '../words.ts'
import { TimeBar } from './time-bar.tsx'

const whats: Readonly<Record<Parting['what'], string>> = {
  call: 'only in one',
  input: 'another input',
  mark: 'another mark',
  start: 'starts only in one',
  order: 'another order',
  phase: 'another phase',
  permission: 'another permission',
  outcome: 'another outcome',
}

interface Props {
  readonly call: ComparedCall | undefined
  readonly result: ComparedRuns
}

const none: ComparedCall = { a: undefined, b: undefined, by: 'nothing', parting: undefined }

/** One call: here above, there below, and where the two part. */
export function AgainstRow({ call: { a, b, parting } = none, result }: Props) {
  const store = useStore()
  const { call } = useView()
  const label = (a ?? b)?.label ?? ''
  const [spanA, spanB] = spansOf(result)
  const ways = parting === undefined ? '' : `${parting.a} | ${parting.b}`
  return (
    <li class={a !== undefined && call?.id === a.id ? 'chosen' : ''}>
      <button
        type="button"
        class="name"
        title={label}
        disabled={a === undefined}
        onClick={() => a !== undefined && store.select(a.id)}
      >
        <b>{a === undefined ? '–' : a.index + 1}</b> {label}
      </button>
      <span class="lasts" title="How long it ran: here above, there below">
        <span>{lasts(a)}</span>
        <span>{lasts(b)}</span>
      </span>
      <span class="bars">
        {a === undefined ? <span class="time-bar" /> : <TimeBar times={a} span={spanA} what="here" />}
        {b === undefined ? <span class="time-bar" /> : <TimeBar times={b} span={spanB} what="there" />}
      </span>
      <span class="said">
        <b class={parting === undefined ? 'same' : 'aborted'}>
          {parting === undefined ? 'same way' : whats[parting.what]}
        </b>
        <span class="why" title={ways}>
          {ways}
        </span>
      </span>
    </li>
  )
}

function lasts(times: CallTimes | undefined): string {
  if (times?.startedAt === undefined) return '–'
  return times.endedAt === undefined ? '…' : duration(times.endedAt - times.startedAt)
}

type Span = readonly [from: number, to: number]
const known = new WeakMap<ComparedRuns, readonly [Span, Span]>()

/** Each from its first arrival, both as long as the longer. */
function spansOf(result: ComparedRuns): readonly [Span, Span] {
  const found = known.get(result)
  if (found !== undefined) return found
  const ends = [result.a, result.b].map(({ calls }) => {
    let [from, to] = [Number.POSITIVE_INFINITY, 0]
    for (const { addedAt, startedAt = 0, endedAt = 0, yieldedAt = 0 } of calls) {
      from = Math.min(from, addedAt)
      to = Math.max(to, addedAt, startedAt, endedAt, yieldedAt)
    }
    return [from, to] as const
  })
  const length = Math.max(...ends.map(([from, to]) => to - from))
  const [a, b] = ends.map(([from]): Span => [from, from + length])
  const spans = [a as Span, b as Span] as const
  known.set(result, spans)
  return spans
}
