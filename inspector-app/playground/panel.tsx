import { useStore, useView } from '../src/use-view.ts'
import { Icon } from '../src/views/icons.tsx'
import { CallRow } from './call-row.tsx'
import { Narration } from './narration.tsx'
import { type ToolName, toolHabits } from './planned-call.ts'
import type { Play } from './play.ts'
import { scenarios } from './scenarios.ts'

interface Props {
  readonly play: Play
}

/** The controls of the playground, beside the inspector. */
export function Panel({ play }: Props) {
  // redraw with every frame
  useView()
  return (
    <aside class="playground" aria-label="Playground">
      <Scenarios play={play} />
      <Transport play={play} />
      <Narration />
      <section aria-label="Calls">
        <details open={innerWidth > 820}>
          <summary>The model's calls</summary>
          <ol class="plan">
            {play.calls.map((planned, index) => (
              <CallRow key={planned.id} play={play} planned={planned} number={numberOf(play, index)} />
            ))}
          </ol>
        </details>
        <Adding play={play} />
      </section>
      <Stopping play={play} />
    </aside>
  )
}

/** Numbered per run, as in the inspector. */
const numberOf = ({ calls }: Play, index: number): number =>
  calls.slice(0, index + 1).filter(({ attempt }) => attempt === calls[index]?.attempt).length

function Scenarios({ play }: Props) {
  const { scenario } = play
  return (
    <section class="scenarios" aria-label="Scenario">
      <fieldset>
        <legend>Playground</legend>
        {scenarios.map((each) => (
          <label key={each.id} class={each === scenario ? 'chip on' : 'chip'}>
            <input
              type="radio"
              name="scenario"
              value={each.id}
              checked={each === scenario}
              onChange={() => {
                play.choose(each)
                // makes the URL shareable
                history.replaceState(null, '', `#scenario=${each.id}`)
              }}
            />
            {each.title}
          </label>
        ))}
      </fieldset>
      <p class="watch">{scenario.watch}</p>
      <p class="the-rule">{scenario.rule}</p>
      <p class="try">
        <b>Try:</b> {scenario.tryThis}
      </p>
    </section>
  )
}

const speeds = [0.25, 0.5, 1, 2, 4]

function Transport({ play }: Props) {
  const { isPaused, speed, canStep } = play.clock
  return (
    <section class="transport" aria-label="Clock">
      <button type="button" class="main" onClick={() => play.restart()}>
        <Icon name="start" /> Restart
      </button>
      <button type="button" aria-pressed={isPaused} onClick={() => play.time({ isPaused: !isPaused })}>
        <Icon name={isPaused ? 'play' : 'pause'} /> {isPaused ? 'Resume' : 'Pause'}
      </button>
      <button
        type="button"
        disabled={!canStep}
        aria-label="Step"
        title="Step to the next event"
        onClick={() => play.step()}
      >
        <Icon name="forward" />
      </button>
      <label title="Speed of the clock">
        <input
          type="range"
          min={0}
          max={speeds.length - 1}
          step={1}
          value={speeds.indexOf(speed)}
          aria-label="Speed of the clock"
          aria-valuetext={`${speed} times`}
          onInput={({ currentTarget }) => play.time({ speed: speeds[Number(currentTarget.value)] ?? 1 })}
        />
        <output>{speed}×</output>
      </label>
    </section>
  )
}

function Adding({ play }: Props) {
  const isClosed = play.query !== undefined || play.isDiscarded
  const why = play.query !== undefined ? 'The models choose the calls in this scenario' : 'This run is discarded'
  return (
    <p class="adding" title={isClosed ? why : undefined}>
      <span>Add</span>
      {(Object.keys(toolHabits) as ToolName[]).map((tool) => (
        <button
          type="button"
          key={tool}
          class={toolHabits[tool].isSafe ? 'shared' : 'exclusive'}
          disabled={isClosed}
          aria-label={`Add a call: ${tool}`}
          title={`${toolHabits[tool].isSafe ? 'safe' : 'unsafe'}${toolHabits[tool].asks ? ', asks for permission' : ''}; at an interrupt: ${toolHabits[tool].atInterrupt}`}
          onClick={() => play.add(tool)}
        >
          {tool}
        </button>
      ))}
    </p>
  )
}

function Stopping({ play }: Props) {
  const { history } = useStore()
  const run = history.model.runs.get(history.model.latestRun)
  const can = (command: 'interrupt' | 'abort' | 'discard'): boolean => run?.can.includes(command) === true
  const shell = play.calls.find(({ id, tool }) => tool === 'Bash' && play.isRunning(id))
  return (
    <section class="stopping" aria-label="Stop">
      <button type="button" disabled={!can('interrupt')} onClick={() => play.interrupt()}>
        Interrupt
      </button>
      <button type="button" disabled={!can('abort')} onClick={() => play.abort()}>
        Abort
      </button>
      <button
        type="button"
        disabled={!can('discard') || play.query !== undefined}
        title="Another model takes over; this run's results are dropped"
        onClick={() => play.discard()}
      >
        Discard
      </button>
      <button
        type="button"
        disabled={shell === undefined}
        title="Fails the first running Bash call"
        onClick={() => shell !== undefined && play.fail(shell.id)}
      >
        Fail the shell
      </button>
    </section>
  )
}
