import type { CallTimes, ComparedCall, ComparedRuns, Difference } from '../../../src/inspect/index.ts'
import { plainText } from '../plain-text.ts'
import { useStore, useView } from '../use-view.ts'
import { duration } from '../words.ts'
import { TimeBar } from './time-bar.tsx'

export const whats: Readonly<Record<Difference['what'], string>> = {
  call: 'only in one run',
  input: 'different input',
  mark: 'different class',
  start: 'starts in one run only',
  order: 'different order',
  phase: 'different phase',
  permission: 'different permission',
  outcome: 'different outcome',
}

interface Props {
  readonly call: ComparedCall | undefined
  readonly result: ComparedRuns
}

const none: ComparedCall = { a: undefined, b: undefined, by: 'nothing', difference: undefined }

/** One call: this run above, the other below, and their first difference. */
export function AgainstRow({ call: { a, b, difference } = none, result }: Props) {
  const store = useStore()
  const { call } = useView()
  const label = plainText((a ?? b)?.label ?? '')
  const [spanA, spanB] = spansOf(result)
  const ways = difference === undefined ? '' : `${difference.a} | ${difference.b}`
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
      <span class="lasts" title="Duration: this run above, the other below">
        <span>{lasts(a)}</span>
        <span>{lasts(b)}</span>
      </span>
      <span class="bars">
        {a === undefined ? <span class="time-bar" /> : <TimeBar times={a} span={spanA} what="here" />}
        {b === undefined ? <span class="time-bar" /> : <TimeBar times={b} span={spanB} what="there" />}
      </span>
      <span class="said">
        <b class={difference === undefined ? 'same' : 'aborted'}>
          {difference === undefined ? 'same' : whats[difference.what]}
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

/** Each range begins at its first arrival; both have the length of the longer run. */
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
