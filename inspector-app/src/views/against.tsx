import { useRef, useState } from 'preact/hooks'
import type { ComparedRuns } from '../../../src/inspect/index.ts'
import { againstOf, type Against as Comparison } from '../model/against.ts'
import { plainText } from '../plain-text.ts'
import { useStore, useView } from '../use-view.ts'
import { duration } from '../words.ts'
import { AgainstAll } from './against-all.tsx'
import { AgainstRow } from './against-row.tsx'
import { NewerFrames } from './simulation-state.tsx'
import { useWork } from './use-work.ts'
import { VirtualList } from './virtual-list.tsx'

/** Compares the run with a run of another recording. */
export function Against() {
  const { run, history } = useView()
  if (run === undefined) return null
  const against = againstOf(history)
  against.turnTo(run.id)
  return <OfRun against={against} key={run.id} />
}

function OfRun({ against }: { against: Comparison }) {
  const { change, paint } = useWork(against)
  const file = useRef<HTMLInputElement>(null)
  const { result, all, problem, name, newer, isReading, choices } = against
  const [isNarrowed, setNarrowed] = useState(false)
  const shown = (result?.calls ?? []).filter(({ difference }) => !isNarrowed || difference !== undefined)
  const { model, state } = useView()
  const [isOne, setOne] = useState(false)
  const isAll = !isOne && (model.runs.size > 1 || choices.length > 1)
  const store = useStore()
  const open = async (...other: Parameters<Comparison['open']>): Promise<void> => {
    const reading = against.open(...other)
    paint()
    await reading
    paint()
  }
  const openSession = async (id: string): Promise<void> => {
    try {
      const stream = await store.shelf?.read(id)
      if (stream !== undefined) await open(id, stream, id)
    } catch (error) {
      store.set({ problem: error instanceof Error ? error.message : 'The session cannot be read.' })
    }
  }
  const sessions = (state.sessions?.sessions ?? []).filter(
    ({ id, problem: broken }) => broken === undefined && id !== state.session,
  )
  return (
    <div class="against">
      <div class="controls">
        <button type="button" class="choose" onClick={() => file.current?.click()}>
          {name === undefined ? 'Choose a second recording' : 'Choose another'}
        </button>
        {sessions.length > 0 && (
          <select
            aria-label="Compare with a stored session"
            value=""
            onChange={({ currentTarget: { value } }) => value !== '' && void openSession(value)}
          >
            <option value="">or a stored session</option>
            {sessions.map(({ id }) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </select>
        )}
        {name !== undefined && <span class="was">{name}</span>}
        {choices.length > 1 && !isAll && (
          <select
            aria-label="Run of the second recording"
            onChange={({ currentTarget }) => change(() => against.choose(Number(currentTarget.value)))}
          >
            {choices.map(({ run, title }) => (
              <option key={run} value={run}>
                {plainText(title)}
              </option>
            ))}
          </select>
        )}
        <input
          ref={file}
          id="other"
          type="file"
          accept=".jsonl,.ndjson,.json"
          hidden
          aria-label="Second recording"
          onChange={({ currentTarget }) => {
            const [chosen] = currentTarget.files ?? []
            currentTarget.value = ''
            if (chosen !== undefined) void open(chosen.name, chosen.stream())
          }}
        />
      </div>
      {name !== undefined && (model.runs.size > 1 || choices.length > 1) && (
        <div class="scopes">
          <button type="button" aria-pressed={isAll} onClick={() => setOne(false)}>
            Whole conversation
          </button>
          <button type="button" aria-pressed={!isAll} onClick={() => setOne(true)}>
            This turn, call by call
          </button>
        </div>
      )}
      {name === undefined && (
        <p class="what">Calls of the two runs are matched by id, else by name and input, else by name, in order.</p>
      )}
      {name !== undefined && <NewerFrames newer={newer} include={() => change(() => against.takeIn())} />}
      {isReading && <p class="what">Reading …</p>}
      {problem !== undefined && (
        <p class="doubt" role="alert">
          {problem}
        </p>
      )}
      {isAll && all !== undefined && <AgainstAll all={all} name={name ?? ''} />}
      {!isAll && result !== undefined && (
        <>
          <p class="sum" role="status">
            <b>{verdict(result)}</b> This run: {length(result.a.makespanMs)}, other run: {length(result.b.makespanMs)}.
            {result.differences > 0 && (
              <label>
                <input
                  type="checkbox"
                  checked={isNarrowed}
                  onChange={({ currentTarget }) => setNarrowed(currentTarget.checked)}
                />
                only differences
              </label>
            )}
          </p>
          <VirtualList
            class="compared"
            label="Calls of both runs"
            count={shown.length}
            rowHeight={34}
            focus={0}
            row={(index) => <AgainstRow key={index} call={shown[index]} result={result} />}
          />
        </>
      )}
    </div>
  )
}

function verdict({ calls, differences }: ComparedRuns): string {
  if (differences === 0) return `All ${calls.length} calls are the same.`
  return `${differences} of ${calls.length} calls differ.`
}

const length = (ms: number | undefined): string => (ms === undefined ? 'not finished' : duration(ms))
