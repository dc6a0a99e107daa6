import { useState } from 'preact/hooks'
import type { WhatIf as Found } from '../../../src/inspect/index.ts'
import { showFrames } from '../feed/show-recording.ts'
import { type Experiment, experimentOf } from '../model/experiment.ts'
import { plainText } from '../plain-text.ts'
import { useStore, useView } from '../use-view.ts'
import { duration } from '../words.ts'
import { NotSimulated } from './not-simulated.tsx'
import { AsRecorded, SimulationState } from './simulation-state.tsx'
import { useWork } from './use-work.ts'
import { VirtualList } from './virtual-list.tsx'
import { WhatIfControls } from './what-if-controls.tsx'
import { WhatIfConversation } from './what-if-conversation.tsx'
import { WhatIfRow } from './what-if-row.tsx'

/** More calls would take the page too long to render. */
const mostShown = 1_000

/** What if the conversation, or one of its turns, had run with other settings? */
export function WhatIf() {
  const { run, history, model } = useView()
  const [isOne, setOne] = useState(false)
  if (run === undefined) return null
  if (model.runs.size < 2) return <OfRun experiment={experimentOf(history, run.id)} key={run.id} />
  return (
    <>
      <div class="scopes">
        <button type="button" aria-pressed={!isOne} onClick={() => setOne(false)}>
          Whole conversation
        </button>
        <button type="button" aria-pressed={isOne} onClick={() => setOne(true)}>
          This turn, call by call
        </button>
      </div>
      {isOne ? <OfRun experiment={experimentOf(history, run.id)} key={run.id} /> : <WhatIfConversation />}
    </>
  )
}

/** Simulates the run on the real charts, with another limit or other classes. */
function OfRun({ experiment }: { experiment: Experiment }) {
  const store = useStore()
  const { change } = useWork(experiment)
  const { result, isBusy } = experiment
  return (
    <div class="what-if">
      <WhatIfControls experiment={experiment} change={change} />
      <SimulationState experiment={experiment} change={change} />
      {result !== undefined && (
        <>
          <p class="sum" role="status" aria-busy={isBusy}>
            <b>{verdict(result)}</b> {moves(result)}
            <AsRecorded experiment={experiment} change={change} />
            {result.recorded.calls.length <= mostShown && (
              <button
                type="button"
                class="link"
                title="Shows the simulated run in every view, in place of this one"
                onClick={() => showFrames(store, result.recording())}
              >
                Open as a recording
              </button>
            )}
          </p>
          {result.caveats.map((doubt) => (
            <p class="doubt" key={doubt}>
              {plainText(doubt)}
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
        <summary>Upper bars: recorded. Lower bars: simulated. What stays fixed</summary>
        <p>
          The charts and the schedule are the production ones. These facts stay as recorded: when each call arrived, was
          released or was withdrawn; how long its validation, hooks, permission and body took; results and failures;
          when the user interrupted or aborted; and how long each finished result waited for a reader.
        </p>
        <NotSimulated />
        <p>
          The duration of a call that never ran or was stopped is unknown: in the simulation it runs until it is aborted
          and then stops at once. Dependencies between calls are unknown too: two calls that write the same file run in
          parallel if you mark them as safe. Progress is omitted.
        </p>
      </details>
    </div>
  )
}

function verdict({ recorded, simulated }: Found): string {
  const [before, now] = [recorded.makespanMs, simulated.makespanMs]
  if (before === undefined || now === undefined) return 'The end of the last call is unknown.'
  const by = Math.abs(now - before)
  if (by === 0) return `${duration(before)}, as recorded.`
  const part = before === 0 ? '' : `, ${Math.round((by / before) * 100)} %`
  return `${duration(before)} → ${duration(now)}: ${duration(by)}${part} ${now < before ? 'shorter' : 'longer'}.`
}

function moves({ moved, recorded }: Found): string {
  if (moved.length === 0) return 'No call starts, ends or is handed over at a different time. '
  const [earlier, later] = [-1, 1].map(
    (sign) => moved.filter(({ startsBy = 0 }) => Math.sign(startsBy) === sign).length,
  )
  return `${earlier} of ${recorded.calls.length} calls start earlier, ${later} later. `
}
