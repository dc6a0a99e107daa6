import type { Call } from '../src/model/model.ts'
import { useView } from '../src/use-view.ts'
import { duration, toneOf, toneWords } from '../src/words.ts'
import type { PlannedCall } from './planned-call.ts'
import type { Play } from './play.ts'

interface Props {
  readonly play: Play
  readonly planned: PlannedCall
  readonly number: number
}

/** One planned call: its class, its duration, its end. Settings that already took effect are disabled. */
export function CallRow({ play, planned, number }: Props) {
  const { model } = useView()
  const run = [...model.runs.values()].findLast(({ byId }) => byId.has(planned.id))
  const call = run?.byId.get(planned.id)
  const { id, tool, about, ms, isSafe, fails, attempt } = planned
  const what = `${tool}(${about})`
  const isOver = call?.completedAt !== undefined
  return (
    <li class={`planned ${call === undefined ? 'future' : toneOf(call)}`}>
      <span class="head">
        <span class="number">{number}</span>
        <span class="label" title={what}>
          {what}
        </span>
        {attempt === 2 && <span class="attempt">other model</span>}
        <span class="state-word">{stateWord(call)}</span>
      </span>
      <span class="knobs">
        <label class="mark">
          <input
            type="checkbox"
            checked={isSafe}
            disabled={planned.isSent || call !== undefined}
            aria-label={`${what} is safe`}
            onChange={({ currentTarget }) => play.change(planned, { isSafe: currentTarget.checked })}
          />
          safe
        </label>
        <label class="mark">
          <input
            type="checkbox"
            checked={fails}
            disabled={isOver}
            aria-label={`${what} fails`}
            onChange={({ currentTarget }) => play.change(planned, { fails: currentTarget.checked })}
          />
          fails
        </label>
        <input
          type="range"
          min={200}
          max={8_000}
          step={100}
          value={ms}
          disabled={isOver}
          aria-label={`Duration of ${what}`}
          aria-valuetext={duration(ms)}
          onInput={({ currentTarget }) => play.change(planned, { ms: Number(currentTarget.value) })}
        />
        <output>{(ms / 1_000).toFixed(1)} s</output>
        <button type="button" disabled={!play.isRunning(id)} aria-label={`Fail ${what}`} onClick={() => play.fail(id)}>
          Fail
        </button>
      </span>
    </li>
  )
}

function stateWord(call: Call | undefined): string {
  if (call === undefined) return 'planned'
  const tone = toneOf(call)
  return tone === 'held' ? 'held' : tone === 'error' ? 'error' : toneWords[tone]
}
