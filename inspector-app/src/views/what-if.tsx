import type { WhatIf as Found } from '../../../src/inspect/index.ts'
import { showFrames } from '../feed/show-recording.ts'
import { type Experiment, experimentOf } from '../model/experiment.ts'
import { useStore, useView } from '../use-view.ts'
import { duration } from '../words.ts'
import { useWork } from './use-work.ts'
import { VirtualList } from './virtual-list.tsx'
import { WhatIfControls } from './what-if-controls.tsx'
import { WhatIfRow } from './what-if-row.tsx'

/** Beyond this, every view of it would take the page too long to write. */
const mostShown = 1_000

/** The run once more, by the real charts, with another limit or other marks. */
export function WhatIf() {
  const { run, history } = useView()
  return run === undefined ? null : <OfRun experiment={experimentOf(history, run.id)} key={run.id} />
}

function OfRun({ experiment }: { experiment: Experiment }) {
  const store = useStore()
  const { change } = useWork(experiment)
  const { result, problem, newer, isBusy } = experiment
  return (
    <div class="what-if">
      <WhatIfControls experiment={experiment} change={change} />
      {newer > 0 && (
        <p class="what">
          {newer} frames came since.{' '}
          <button type="button" class="link" onClick={() => change(() => experiment.takeIn())}>
            Take them in
          </button>
        </p>
      )}
      {problem !== undefined && (
        <p class="doubt" role="alert">
          {problem}
        </p>
      )}
      {experiment.isSlow && <p class="what">Telling the run again: {experiment.progress}</p>}
      {result !== undefined && (
        <>
          <p class="sum" role="status" aria-busy={isBusy}>
            <b>{verdict(result)}</b> {moves(result)}
            {experiment.isChanged && (
              <button type="button" class="link" onClick={() => change(() => experiment.undo())}>
                As recorded
              </button>
            )}
            {result.recorded.calls.length <= mostShown && (
              <button
                type="button"
                class="link"
                title="Shows the simulated run in every view, in the place of this one"
                onClick={() => showFrames(store, result.recording())}
              >
                Open as a recording
              </button>
            )}
          </p>
          {result.doubts.map((doubt) => (
            <p class="doubt" key={doubt}>
              {doubt}
            </p>
          ))}
          <VirtualList
            class="compared"
            label="Calls, as recorded and as simulated"
            count={result.recorded.calls.length}
            rowHeight={34}
            focus={0}
            row={(index) => (
              <WhatIfRow key={index} index={index} result={result} experiment={experiment} change={change} />
            )}
          />
        </>
      )}
      <details class="fixed">
        <summary>Upper bars recorded, lower bars simulated: what is held fixed</summary>
        <p>
          The charts and the books are the ones that run in production. As recorded are: when each call arrived, was
          released or was withdrawn; how long its validation, hooks, permission and body took, whatever else ran;
          results and failures; when the user interrupted or aborted; and how long after it was ready a result was
          taken.
        </p>
        <p>
          A recording does not hold what a call would have done that never ran or was stopped: it goes on until it is
          told to stop, and then stops at once. Nor does it hold what calls have to do with one another: marked safe,
          two that write the same file are simulated side by side all the same. Progress is left out.
        </p>
      </details>
    </div>
  )
}

function verdict({ recorded, simulated }: Found): string {
  const [before, now] = [recorded.makespanMs, simulated.makespanMs]
  if (before === undefined || now === undefined) return 'It is not known when the last call ends.'
  const by = Math.abs(now - before)
  if (by === 0) return `${duration(before)}, as recorded.`
  const part = before === 0 ? '' : `, ${Math.round((by / before) * 100)} %`
  return `${duration(before)} → ${duration(now)}: ${duration(by)}${part} ${now < before ? 'shorter' : 'longer'}.`
}

function moves({ moved, recorded }: Found): string {
  if (moved.length === 0) return 'Every call starts, ends and is handed over when it was. '
  const [earlier, later] = [-1, 1].map(
    (sign) => moved.filter(({ startsBy = 0 }) => Math.sign(startsBy) === sign).length,
  )
  return `${earlier} of ${recorded.calls.length} calls start earlier, ${later} later. `
}
