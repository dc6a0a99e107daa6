import type { ConversationWhatIf, LimitEnd, TurnTimes, TurnWhatIf } from '../../../src/inspect/index.ts'
import {
  type ConversationExperiment,
  conversationExperimentOf,
  limitFields,
  type SeenTool,
} from '../model/conversation-experiment.ts'
import { plainText } from '../plain-text.ts'
import { useStore, useView } from '../use-view.ts'
import { duration } from '../words.ts'
import { AsRecorded, SimulationState } from './simulation-state.tsx'
import { useWork } from './use-work.ts'

/** More rows would take the page too long to render. */
const mostTurns = 300
const mostTools = 20

/** Simulates all turns on the real charts, with other limits, classes, resources and background thresholds. */
export function WhatIfConversation() {
  const { history } = useView()
  const experiment = conversationExperimentOf(history)
  const { change } = useWork(experiment)
  const { result, isBusy } = experiment
  return (
    <div class="what-if conversation-what-if">
      <SimulationState experiment={experiment} change={change} />
      {result !== undefined && (
        <>
          <p class="sum" role="status" aria-busy={isBusy}>
            <b>{verdict(result)}</b> <AsRecorded experiment={experiment} change={change} />
          </p>
          {result.limit !== undefined && <EndsAt limit={result.limit} result={result} />}
          <Turns result={result} />
          <Controls experiment={experiment} change={change} />
          {result.caveats.slice(0, 12).map((doubt) => (
            <p class="doubt" key={doubt}>
              {plainText(doubt)}
            </p>
          ))}
          {result.caveats.length > 12 && <p class="doubt">and {result.caveats.length - 12} more</p>}
        </>
      )}
      <details class="fixed">
        <summary>What stays fixed</summary>
        <p>
          The charts and the schedule are the production ones. The replies of the model, their times within a turn, the
          pauses between turns, and the durations and outcomes of calls stay as recorded. A call with an agent inside
          takes as much more or less time as its agent.
        </p>
        <p>
          A limit holds for the whole conversation, agents and background calls included. A real request also reserves
          what its reply may use at most, which is not in the recording: it can be refused one turn earlier. Locks
          between executors are not simulated.
        </p>
        <p>
          A call that goes to the background ends its turn earlier, and the conversation ends when its last background
          call has ended. In a real conversation the model would get the outcome in a later turn, and could answer
          differently.
        </p>
      </details>
    </div>
  )
}

interface ControlProps {
  readonly experiment: ConversationExperiment
  readonly change: (how: () => void) => void
}

function Controls({ experiment, change }: ControlProps) {
  const { run } = useView()
  const recorded = run?.maxConcurrency ?? null
  return (
    <div class="tool-changes">
      <label>
        At once
        <input
          type="number"
          min="1"
          step="1"
          aria-label="How many safe calls may run at once"
          placeholder={recorded === null ? 'no limit' : `${recorded}, recorded`}
          value={experiment.limit ?? ''}
          onInput={({ currentTarget: { value } }) => {
            const limit = Math.floor(Number(value))
            if (value === '' || limit >= 1) change(() => (experiment.limit = value === '' ? undefined : limit))
          }}
        />
      </label>
      <fieldset class="limits">
        <legend>End at most after</legend>
        {limitFields.map(([name, words]) => {
          const isUnknown = name === 'costUsd' && !experiment.isPriced
          return (
            <label key={name} title={isUnknown ? 'The recording has no costs: it was made without prices' : undefined}>
              <input
                type="number"
                min="0"
                step={name === 'costUsd' ? 'any' : '1'}
                placeholder="no limit"
                disabled={isUnknown}
                value={experiment.limits.get(name) ?? ''}
                onInput={({ currentTarget: { value } }) => {
                  const max = name === 'costUsd' ? Number(value) : Math.floor(Number(value))
                  if (value === '' || max >= 0) change(() => experiment.setLimit(name, value === '' ? undefined : max))
                }}
              />{' '}
              {words}
            </label>
          )
        })}
      </fieldset>
      <table>
        <thead>
          <tr>
            <th scope="col">Tool</th>
            <th scope="col">Class</th>
            <th scope="col">Resource</th>
            <th scope="col">Background after (ms)</th>
          </tr>
        </thead>
        <tbody>
          {experiment.tools.slice(0, mostTools).map((tool) => (
            <ToolRow key={tool.name} tool={tool} experiment={experiment} change={change} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function ToolRow({ tool, experiment, change }: ControlProps & { tool: SeenTool }) {
  const { name, calls, isSafe, isMixed, fields } = tool
  const made = experiment.changes.get(name) ?? {}
  const { resource, backgroundAfterMs } = made
  const recorded = isMixed ? 'some safe' : isSafe ? 'safe' : 'unsafe'
  return (
    <tr>
      <th scope="row">
        {name} <span class="count">{calls.toLocaleString('en')}</span>
      </th>
      <td>
        <select
          aria-label={`Class of ${name}`}
          value={made.isSafe === undefined ? '' : made.isSafe ? 'safe' : 'unsafe'}
          onChange={({ currentTarget: { value } }) =>
            change(() => experiment.change(name, { isSafe: value === '' ? undefined : value === 'safe' }))
          }
        >
          <option value="">{recorded} (recorded)</option>
          <option value="safe">safe</option>
          <option value="unsafe">unsafe</option>
        </select>
      </td>
      <td>
        <select
          aria-label={`Resource of ${name}`}
          value={resource === undefined ? '' : `${resource.use} ${resource.field}`}
          disabled={fields.length === 0}
          onChange={({ currentTarget: { value } }) => {
            const [use, ...field] = value.split(' ')
            const named = { use: use === 'reads' ? 'reads' : 'writes', field: field.join(' ') } as const
            change(() => experiment.change(name, { resource: value === '' ? undefined : named }))
          }}
        >
          <option value="">recorded</option>
          {fields.flatMap((field) =>
            (['reads', 'writes'] as const).map((use) => (
              <option key={`${use} ${field}`} value={`${use} ${field}`}>
                {use} its {field}
              </option>
            )),
          )}
        </select>
      </td>
      <td>
        <input
          type="number"
          min="0"
          aria-label={`Milliseconds until ${name} goes to the background`}
          placeholder="recorded"
          value={backgroundAfterMs ?? ''}
          onInput={({ currentTarget: { value } }) => {
            const ms = Number(value)
            if (value === '' || ms >= 0)
              change(() => experiment.change(name, { backgroundAfterMs: value === '' ? undefined : ms }))
          }}
        />
      </td>
    </tr>
  )
}

/** Before and after, for each turn and for all. */
function Turns({ result }: { result: ConversationWhatIf }) {
  const store = useStore()
  const { turns, recordedMs, simulatedMs } = result
  return (
    <table class="turn-times">
      <thead>
        <tr>
          <th scope="col">Turn</th>
          <th scope="col">calls</th>
          <th scope="col">recorded</th>
          <th scope="col">simulated</th>
          <th scope="col">difference</th>
        </tr>
      </thead>
      <tbody>
        {turns.slice(0, mostTurns).map((turn) => (
          <tr key={turn.run}>
            <th scope="row" style={{ paddingLeft: `${4 + turn.depth * 16}px` }}>
              <button
                type="button"
                class="link"
                title={`${plainText(turn.title)}: show the turn`}
                onClick={() => store.set({ run: turn.run, selected: undefined })}
              >
                {plainText(turn.title)}
              </button>
            </th>
            <td>{callsWords(turn)}</td>
            <td>{lengthWords(lengthOf(turn.recorded))}</td>
            <td class={turn.reach === 'end' ? undefined : 'held'}>
              {turn.reach === 'notBegun' ? 'not begun' : lengthWords(lengthOf(turn.simulated))}
              {turn.reach === 'cut' && ', cut off'}
            </td>
            <Difference before={lengthOf(turn.recorded)} now={lengthOf(turn.simulated)} />
          </tr>
        ))}
      </tbody>
      <tfoot>
        {turns.length > mostTurns && (
          <tr>
            <td colSpan={5}>and {turns.length - mostTurns} more turns</td>
          </tr>
        )}
        <tr>
          <th scope="row">Whole conversation</th>
          <td>{turns.reduce((sum, { calls }) => sum + calls.recorded.calls.length, 0).toLocaleString('en')}</td>
          <td>{lengthWords(recordedMs)}</td>
          <td>{lengthWords(simulatedMs)}</td>
          <Difference before={recordedMs} now={simulatedMs} />
        </tr>
      </tfoot>
    </table>
  )
}

/** Where a limit ends the conversation, and what is missing then. */
function EndsAt({ limit, result }: { limit: LimitEnd; result: ConversationWhatIf }) {
  const store = useStore()
  const { run, call, callsLeft, turnsLeft } = limit
  const turn = result.turns.find((each) => each.run === run)
  const label = turn?.calls.recorded.calls.find(({ id }) => id === call)?.label
  const [, words] = limitFields.find(([name]) => name === limit.limit) ?? ['', limit.limit]
  const where = label === undefined ? (turn?.reach === 'notBegun' ? 'before' : 'in') : `at ${plainText(label)} in`
  const missing = [counted(turnsLeft, 'turn'), counted(callsLeft, 'call')].filter((each) => each !== '').join(' and ')
  return (
    <p class="ends-at">
      The limit of {amount(limit.max)} {words} ends it {where}{' '}
      <button type="button" class="link" onClick={() => store.set({ run, selected: undefined })}>
        {plainText(turn?.title ?? `run ${run}`)}
      </button>
      , {duration(limit.at)} after the recording began, with {amount(limit.used)} used.
      {missing !== '' && ` Not made: ${missing}.`}
    </p>
  )
}

const amount = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 4 })

const counted = (count: number, name: string): string =>
  count === 0 ? '' : `${count.toLocaleString('en')} ${name}${count === 1 ? '' : 's'}`

function callsWords({ calls: { recorded, simulated } }: TurnWhatIf): string {
  const before = recorded.calls.filter(({ ended }) => ended === 'background').length
  const now = simulated.calls.filter(({ ended }) => ended === 'background').length
  const { length } = recorded.calls
  return now > before ? `${length}, ${now} in the background` : String(length)
}

const lengthOf = ({ startsAt, endsAt }: TurnTimes): number | undefined =>
  startsAt === undefined || endsAt === undefined ? undefined : Math.round((endsAt - startsAt) * 1_000) / 1_000

const lengthWords = (ms: number | undefined): string => (ms === undefined ? 'unknown' : duration(ms))

function Difference({ before, now }: { before: number | undefined; now: number | undefined }) {
  if (before === undefined || now === undefined) return <td>–</td>
  const by = now - before
  if (by === 0) return <td>same</td>
  if (Math.abs(by) < 1) return <td>{'<\u00a01\u00a0ms'}</td>
  return <td class={by < 0 ? 'ok' : 'held'}>{`${by < 0 ? '−' : '+'}${duration(Math.abs(by))}`}</td>
}

function verdict({ recordedMs, simulatedMs }: ConversationWhatIf): string {
  if (recordedMs === undefined) return 'No turn ends in the recording.'
  if (simulatedMs === undefined) return 'The end of the conversation is unknown.'
  const by = Math.abs(simulatedMs - recordedMs)
  if (by === 0) return `${duration(recordedMs)}, as recorded.`
  const part = recordedMs === 0 ? '' : `, ${Math.round((by / recordedMs) * 100)} %`
  return `${duration(recordedMs)} → ${duration(simulatedMs)}: ${duration(by)}${part} ${simulatedMs < recordedMs ? 'shorter' : 'longer'}.`
}
