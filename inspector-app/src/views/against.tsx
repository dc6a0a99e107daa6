import { useRef, useState } from 'preact/hooks'
import type { ComparedRuns } from '../../../src/inspect/index.ts'
import { againstOf, type Against as Comparison } from '../model/against.ts'
import { useView } from '../use-view.ts'
import { duration } from '../words.ts'
import { AgainstAll } from './against-all.tsx'
import { AgainstRow } from './against-row.tsx'
import { useWork } from './use-work.ts'
import { VirtualList } from './virtual-list.tsx'

/** Compares the run with a run of another recording. */
export function Against() {
  const { run, history } = useView()
  return run === undefined ? null : <OfRun against={againstOf(history, run.id)} key={run.id} />
}

function OfRun({ against }: { against: Comparison }) {
  const { change, paint } = useWork(against)
  const file = useRef<HTMLInputElement>(null)
  const { result, all, problem, name, newer, isReading, choices } = against
  const [isNarrowed, setNarrowed] = useState(false)
  const shown = (result?.calls ?? []).filter(({ difference }) => !isNarrowed || difference !== undefined)
  const { model } = useView()
  const [isOne, setOne] = useState(false)
  const isAll = !isOne && (model.runs.size > 1 || choices.length > 1)
  const open = async (chosen: File): Promise<void> => {
    const reading = against.open(chosen.name, chosen.stream())
    paint()
    await reading
    paint()
  }
  return (
    <div class="against">
      <div class="controls">
        <button type="button" class="choose" onClick={() => file.current?.click()}>
          {name === undefined ? 'Choose a second recording' : 'Choose another'}
        </button>
        {name !== undefined && <span class="was">{name}</span>}
        {choices.length > 1 && !isAll && (
          <select
            aria-label="Run of the second recording"
            onChange={({ currentTarget }) => change(() => against.choose(Number(currentTarget.value)))}
          >
            {choices.map(({ run, title }) => (
              <option key={run} value={run}>
                {title}
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
            if (chosen !== undefined) void open(chosen)
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
      {newer > 0 && name !== undefined && (
        <p class="what">
          {newer} newer frames.{' '}
          <button type="button" class="link" onClick={() => change(() => against.takeIn())}>
            Include them
          </button>
        </p>
      )}
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
