import { type BackgroundState, givenUp } from '../../../src/inspect/index.ts'
import { lockWaitOf } from '../model/lock-wait.ts'
import type { Call, Run } from '../model/model.ts'
import { awaited, awaitedWords } from '../model/server-state.ts'
import { useStore, useView } from '../use-view.ts'
import { duration, isFromLog, stateWords, toneOf, whyWaiting } from '../words.ts'
import { MiddleCut } from './middle-cut.tsx'
import { Still } from './still.tsx'
import { useGlide } from './use-glide.ts'
import { useNow } from './use-now.ts'

const mostRows = 60
const mostTiles = 1_500

/** The queue, the lanes, and the results in call order. */
export function Lanes() {
  const { run } = useView()
  const ref = useGlide(run?.version)
  if (run === undefined) return null
  const executing = [...run.executing].flatMap((id) => run.byId.get(id) ?? [])
  return (
    <section class={lanesClass(run)} ref={ref} aria-label="Lanes">
      <Queue run={run} />
      <div class="tracks">
        <Track kind="shared" run={run} calls={executing.filter(({ lane }) => lane === 'shared')} />
        <Track kind="exclusive" run={run} calls={executing.filter(({ lane }) => lane === 'exclusive')} />
        <Background run={run} />
      </div>
      <Results run={run} />
    </section>
  )
}

/** Empty parts give their room to the others. A turn that is over needs no lanes. */
function lanesClass(run: Run): string {
  const isOver = run.calls.length > 0 && run.yielded === run.calls.length && run.background.size === 0
  return ['lanes', ...(run.waiting.length === 0 ? ['no-queue'] : []), ...(isOver ? ['over'] : [])].join(' ')
}

function Queue({ run }: { run: Run }) {
  const store = useStore()
  const { call: chosen } = useView()
  const now = useNow()
  const shown = run.waiting.slice(0, mostRows)
  return (
    <div class="queue">
      <h2>
        Queue <em>{run.waiting.length}</em>
      </h2>
      <ol>
        {shown.map((call) => (
          <li key={call.id}>
            <button
              type="button"
              class={call === chosen ? 'waiting chosen' : 'waiting'}
              data-flip={call.id}
              onClick={() => store.select(call.id)}
            >
              <span class="number">{call.index + 1}</span>
              <span class="label">
                <MiddleCut text={call.label} />
              </span>
              {call.wait !== undefined && (
                <>
                  <span class="why" data-because={call.wait.because} title={whyWaiting(run, call.wait)}>
                    {whyWaiting(run, call.wait)}
                  </span>
                  <time>{duration(now - call.wait.since)}</time>
                </>
              )}
            </button>
          </li>
        ))}
        {run.waiting.length > mostRows && <li class="more">and {run.waiting.length - mostRows} more</li>}
        {run.waiting.length === 0 && <li class="none">No waiting calls</li>}
      </ol>
    </div>
  )
}

const trackWords = { shared: 'Shared', exclusive: 'Exclusive' } as const

function Track({ kind, run, calls }: { kind: 'shared' | 'exclusive'; run: Run; calls: readonly Call[] }) {
  const limit = kind === 'exclusive' ? 1 : run.maxConcurrency
  return (
    <div class={calls.length === 0 ? `track ${kind} empty` : `track ${kind}`}>
      <h2>
        {trackWords[kind]} <em>{limit === null ? calls.length : `${calls.length} of ${limit}`}</em>
      </h2>
      <ul class="rail">
        {calls.slice(0, mostRows).map((call) => (
          <li key={call.id}>
            <Wagon call={call} />
          </li>
        ))}
        {calls.length > mostRows && <li class="more">and {calls.length - mostRows} more</li>}
      </ul>
    </div>
  )
}

const backgroundWords: { readonly [Status in BackgroundState['status']]?: string } = {
  running: 'running',
  stopping: 'stopping',
  finished: 'finished, the model hears of it in its next turn',
  failed: 'failed, the model hears of it in its next turn',
  stopped: 'stopped, the model hears of it in its next turn',
  unknown: 'unknown outcome, the model hears of it in its next turn',
}

/** The calls of the query that outlive their turn, whichever turn they come from. Absent while there are none. */
function Background({ run }: { run: Run }) {
  const store = useStore()
  const { call: chosen } = useView()
  const now = useNow()
  const calls = [...run.background.values()]
  if (calls.length === 0) return null
  return (
    <div class="track background">
      <h2>
        Background <em>{calls.length}</em>
      </h2>
      <ul class="rail">
        {calls.slice(0, mostRows).map(({ id, call, label, status, since }) => (
          <li key={id}>
            <button
              type="button"
              class={`wagon background ${status}${chosen?.id === call ? ' chosen' : ''}`}
              title={`${label}: ${backgroundWords[status] ?? status}`}
              onClick={() => run.byId.has(call) && store.select(call)}
            >
              <span class="label">
                <span class="number">{id}</span> {label}
              </span>
              <span class="phase">
                {backgroundWords[status] ?? status} <time>{duration(now - since)}</time>
              </span>
            </button>
          </li>
        ))}
        {calls.length > mostRows && <li class="more">and {calls.length - mostRows} more</li>}
      </ul>
    </div>
  )
}

/** A running call: its name, phase and progress. */
function Wagon({ call }: { call: Call }) {
  const store = useStore()
  const { call: chosen, model } = useView()
  const now = useNow()
  const path = call.segments.at(-1)?.path ?? []
  const wait = awaited(model, call)
  const keyWait = lockWaitOf(model, call)
  const part = partOf(call)
  return (
    <button
      type="button"
      class={`wagon ${call.lane}${call === chosen ? ' chosen' : ''}${isStopping(call) ? ' stopping' : ''}`}
      data-flip={call.id}
      onClick={() => store.select(call.id)}
    >
      <span class="label">
        <span class="number">{call.index + 1}</span> <MiddleCut text={call.label} />
      </span>
      <span class="phase">
        {keyWait !== undefined ? (
          <span class="awaits" title={keyWait.words}>
            {keyWait.words}
          </span>
        ) : wait !== undefined ? (
          <span class="awaits" title={awaitedWords(wait.server)}>
            waits for the server {wait.server.name}
          </span>
        ) : (
          path.slice(1).join(' ▸ ')
        )}{' '}
        <time>{duration(now - (call.startedAt ?? now))}</time>
      </span>
      {part !== undefined && <progress max={1} value={part} aria-label="Progress" />}
    </button>
  )
}

/** An interrupt reaches every call, but calls with `'block'` behaviour do not stop. */
const isStopping = ({ abort, stopsAtInterrupt }: Call): boolean =>
  abort !== undefined && (abort.event !== 'call.interrupt' || stopsAtInterrupt)

/** Progress data is tool-specific; a number from 0 to 1 is drawn as a bar. */
function partOf({ progress }: Call): number | undefined {
  const data = progress?.data
  return typeof data === 'number' && data >= 0 && data <= 1 ? data : undefined
}

function Results({ run }: { run: Run }) {
  const store = useStore()
  const { call: chosen } = useView()
  const now = useNow()
  const held = run.calls.filter(({ stage, isGivenUp }) => stage === 'completed' && !isGivenUp)
  const waitsFor = run.cursor.waitsFor === null ? undefined : run.byId.get(run.cursor.waitsFor)
  const words = cursorWords(run, waitsFor, held, now)
  return (
    <div class="results">
      <h2>
        Results in order{' '}
        <em>
          {run.yielded} of {run.calls.length}
        </em>
      </h2>
      <Still
        of={[run, run.version, run.cursor, chosen?.id]}
        draw={() => <Tiles run={run} chosen={chosen} onChoose={(id) => store.select(id)} />}
      />
      <p class="cursor" aria-live="polite" title={words}>
        <span>{words}</span>
      </p>
    </div>
  )
}

interface TilesProps {
  readonly run: Run
  readonly chosen: Call | undefined
  readonly onChoose: (id: string) => void
}

/** Every call in order, as tiles that shrink with their number. */
function Tiles({ run, chosen, onChoose }: TilesProps) {
  const first = Math.max(0, Math.min(run.cursor.next - 200, run.calls.length - mostTiles))
  const shown = run.calls.slice(first, first + mostTiles)
  const size = sizeFor(run.calls.length)
  return (
    <ol class={size}>
      {shown.map((call) => {
        const tone = toneOf(call)
        const isNext = call.index === run.cursor.next
        const heldFor =
          call.completedAt === undefined || call.isGivenUp ? 0 : (call.yieldedAt ?? call.completedAt) - call.completedAt
        return (
          <li key={call.id}>
            <button
              type="button"
              class={`tile ${tone}${isFromLog(call) ? ' from-log' : ''}${isNext ? ' next' : ''}${call === chosen ? ' chosen' : ''}`}
              data-flip={size === 'large' ? call.id : undefined}
              aria-label={`${call.index + 1} ${call.label}: ${stateWords(call)}`}
              title={`${call.index + 1} ${call.label}: ${stateWords(call)}${heldFor >= 1 ? `, held ${duration(heldFor)}` : ''}`}
              onClick={() => onChoose(call.id)}
            >
              {size === 'large' || size === 'middle' ? `${call.index + 1}${tone === 'unknown' ? '?' : ''}` : ''}
            </button>
          </li>
        )
      })}
    </ol>
  )
}

function sizeFor(count: number): 'tiny' | 'small' | 'middle' | 'large' {
  if (count > 400) return 'tiny'
  if (count > 90) return 'small'
  return count > 36 ? 'middle' : 'large'
}

function givenUpWords({ calls, yielded }: Run): string {
  const count = calls.length - yielded
  return count === 1 ? `one call is ${givenUp.short}` : `${count} calls are ${givenUp.short}`
}

function cursorWords(run: Run, waitsFor: Call | undefined, held: readonly Call[], now: number): string {
  if (run.calls.length === 0) return 'No calls yet'
  if (run.yielded === run.calls.length) return 'All results handed over'
  if (run.isDiscarded) return `The run is discarded: ${givenUpWords(run)}`
  if (held.length === 0) return waitsFor === undefined ? '' : `Next result: ${waitsFor.label}`
  const longest = Math.max(...held.map(({ completedAt }) => now - (completedAt ?? now)))
  const count = held.length === 1 ? 'one finished result is' : `${held.length} finished results are`
  if (waitsFor === undefined) return `${count} ready to be read, waiting ${duration(longest)}`
  const sofar = longest < 1 ? '' : `, up to ${duration(longest)}`
  return `${count} held for order${sofar}: ${waitsFor.label} comes first`
}
