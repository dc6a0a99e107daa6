import type { CallTimes, WhatIf } from '../../../src/inspect/index.ts'
import type { Experiment } from '../model/experiment.ts'
import { plainText } from '../plain-text.ts'
import { useStore, useView } from '../use-view.ts'
import { duration, whyWaiting } from '../words.ts'
import { TimeBar } from './time-bar.tsx'
import { mark } from './what-if-controls.tsx'

interface Props {
  readonly index: number
  readonly result: WhatIf
  readonly experiment: Experiment
  readonly change: (how: () => void) => void
}

/** One call: recorded above, simulated below, and why it starts when it does. */
export function WhatIfRow({ index, result: { recorded, simulated }, experiment, change }: Props) {
  const store = useStore()
  const { run, call } = useView()
  const before = recorded.calls[index]
  const now = simulated.calls[index]
  if (before === undefined || now === undefined || run === undefined) return null
  const span = spanOf(recorded.calls, simulated.calls)
  const { waitedFor } = now
  const why = waitedFor && whyWaiting({ ...run, maxConcurrency: simulated.maxConcurrency }, waitedFor)
  const isSafe = experiment.marks.get(before.id) ?? before.isSafe
  return (
    <li class={call?.id === before.id ? 'chosen' : ''}>
      <button type="button" class="name" title={plainText(before.label)} onClick={() => store.select(before.id)}>
        <b>{index + 1}</b> {plainText(before.label)}
      </button>
      <button
        type="button"
        class={`mark ${isSafe ? 'shared' : 'exclusive'}${experiment.marks.has(before.id) ? ' changed' : ''}`}
        title={`Mark this call as ${isSafe ? 'unsafe' : 'safe'}`}
        onClick={() => change(() => mark(experiment.marks, before.id, before.isSafe, !isSafe))}
      >
        {isSafe ? 'safe' : 'unsafe'}
      </button>
      <span class="bars">
        <TimeBar times={before} span={span} what="recorded" />
        <TimeBar times={now} span={span} what="simulated" />
      </span>
      <span class="said">
        <b class={toneOf(before, now)}>{shift(before, now)}</b>
        <span class="why" title={why}>
          {why === undefined ? '' : why}
        </span>
      </span>
    </li>
  )
}

const spans = new WeakMap<readonly CallTimes[], readonly [number, number]>()

/** From the first arrival to the last end in either run: the same for every row. */
function spanOf(recorded: readonly CallTimes[], simulated: readonly CallTimes[]): readonly [number, number] {
  const known = spans.get(simulated)
  if (known !== undefined) return known
  let [from, to] = [Number.POSITIVE_INFINITY, 0]
  for (const { addedAt, startedAt = 0, endedAt = 0, yieldedAt = 0 } of [...recorded, ...simulated]) {
    from = Math.min(from, addedAt)
    to = Math.max(to, addedAt, startedAt, endedAt, yieldedAt)
  }
  const span = [from, to] as const
  spans.set(simulated, span)
  return span
}

function shift(before: CallTimes, now: CallTimes): string {
  if (before.startedAt === undefined) return now.startedAt === undefined ? 'never starts' : 'starts now'
  if (now.startedAt === undefined) return 'does not start'
  const by = now.startedAt - before.startedAt
  if (by !== 0) return `${duration(Math.abs(by))} ${by < 0 ? 'earlier' : 'later'}`
  const ends = (now.endedAt ?? 0) - (before.endedAt ?? 0)
  return ends === 0 ? 'same start' : `ends ${duration(Math.abs(ends))} ${ends < 0 ? 'earlier' : 'later'}`
}

function toneOf(before: CallTimes, now: CallTimes): string {
  const by = (now.startedAt ?? 0) - (before.startedAt ?? 0) || (now.endedAt ?? 0) - (before.endedAt ?? 0)
  return by === 0 ? 'same' : by < 0 ? 'ok' : 'held'
}
