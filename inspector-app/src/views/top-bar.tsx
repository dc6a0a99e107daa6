import { useRef } from 'preact/hooks'
import { activeStates, type Command } from '../../../src/inspect/index.ts'
import { visibleLine } from '../../../src/permission/visible-text.ts'
import { linkTo } from '../deep-link.ts'
import { saveRecording } from '../feed/recorded-feed.ts'
import type { Run } from '../model/model.ts'
import { type Stoppable, stoppable } from '../model/stoppable.ts'
import type { State, Store, Theme } from '../store.ts'
import { useStore, useView } from '../use-view.ts'
import { openFile } from './drop-zone.tsx'
import { Emblem } from './emblem.tsx'
import { Icon, type IconName } from './icons.tsx'
import { Invariants } from './invariants.tsx'

const sources: Readonly<Record<State['source'], readonly [label: string, says: string]>> = {
  none: ['open a recording', 'Nothing is open. Open a recording, or the address that a host printed.'],
  connecting: ['connecting', 'The page connects to the server.'],
  live: ['live', 'The page follows the server.'],
  silent: [
    'no sign of the server',
    'The connection is open, but nothing arrives: the program may be stopped or busy, or the network is cut.',
  ],
  recording: ['recording', 'The page shows a recording.'],
  reconnecting: [
    'reconnecting',
    'The connection was lost. The page connects again and continues after its last frame.',
  ],
  gone: ['server gone', 'The server does not answer. Received frames are kept. The page connects again if it returns.'],
  refused: ['wrong token', 'The server refused the token. Open the address that the host printed last.'],
}

const themes: readonly Theme[] = ['auto', 'light', 'dark']
const themeIcons = { auto: 'auto', light: 'sun', dark: 'moon' } as const

export function TopBar() {
  const store = useStore()
  const { state, model, run } = useView()
  const file = useRef<HTMLInputElement>(null)
  const nextTheme = themes[(themes.indexOf(state.theme) + 1) % themes.length] as Theme
  return (
    <header class="top-bar">
      <h1>
        <Emblem size={22} />
        signalbox
      </h1>
      <span class={`source ${state.source}`} role="status" title={sources[state.source][1]}>
        <i />
        {sources[state.source][0]}
        {/* not read out each second */}
        {state.source === 'silent' && <span aria-hidden="true"> for {state.silence} s</span>}
      </span>
      {state.session !== undefined && (
        <button
          type="button"
          class="session-name"
          title={`Stored session ${visibleLine(state.session)}: choose another`}
          onClick={() => store.set({ dialog: 'sessions' })}
        >
          {visibleLine(state.session)}
        </button>
      )}
      {model.runs.size > 1 && (
        <select
          aria-label="Run"
          title={run?.title}
          value={run?.id}
          onChange={({ currentTarget }) => store.set({ run: Number(currentTarget.value), selected: undefined })}
        >
          {listedRuns(model.runs, run).map(({ id, title, parentToolUseID }) => (
            <option key={id} value={id}>
              {parentToolUseID === undefined ? title : `↳ ${title}`}
            </option>
          ))}
        </select>
      )}
      <RunState />
      <Invariants />
      <span class="spring" />
      <Commands />
      <span class="tools">
        <Tool
          icon="find"
          name="Find (Ctrl+K)"
          says="Find a call, a text or a turn (Ctrl+K)"
          act={() => store.set({ dialog: 'find' })}
        />
        <Tool
          icon="help"
          name="Keys and questions (?)"
          says="Keys, and where to find answers (?)"
          act={() => store.set({ dialog: 'help' })}
        />
        <Tool
          icon="link"
          name="Copy a link to what is shown"
          says="Copy a link to this run, call, tab and moment"
          isOff={run === undefined}
          act={() => void copyLink(store)}
        />
        {state.sessions !== undefined && (
          <Tool icon="list" name="Stored sessions" act={() => store.set({ dialog: 'sessions' })} />
        )}
        <Tool
          icon="open"
          name="Open a recording"
          says="Open a recording or a coverage file"
          act={() => file.current?.click()}
        />
        <Tool icon="save" name="Save as a recording" isOff={store.history.length === 0} act={() => save(store)} />
        <Tool
          icon={themeIcons[state.theme]}
          name={`Theme: ${state.theme}. Change to ${nextTheme}`}
          says={`Theme: ${state.theme}`}
          act={() => store.set({ theme: nextTheme })}
        />
        <input
          ref={file}
          id="file"
          type="file"
          accept=".jsonl,.ndjson,.json"
          hidden
          aria-label="Recording"
          onChange={({ currentTarget }) => {
            const [chosen] = currentTarget.files ?? []
            currentTarget.value = ''
            if (chosen !== undefined) void openFile(store, chosen)
          }}
        />
      </span>
      {state.problem !== undefined && (
        <p class="problem" role="alert">
          {state.problem}
          <button type="button" aria-label="Close" onClick={() => store.set({ problem: undefined })}>
            <Icon name="cross" />
          </button>
        </p>
      )}
    </header>
  )
}

interface ToolProps {
  readonly icon: IconName
  readonly name: string
  /** Shown when the pointer rests on it. */
  readonly says?: string
  readonly isOff?: boolean
  readonly act: () => void
}

const Tool = ({ icon, name, says = name, isOff = false, act }: ToolProps) => (
  <button type="button" aria-label={name} title={says} disabled={isOff} onClick={act}>
    <Icon name={icon} />
  </button>
)

const save = ({ history }: Store): void =>
  saveRecording([...history.opening(), ...history.from(0)], 'signalbox-recording.jsonl')

/** More would take the page too long to render at each step. The conversation leads to older ones. */
const mostRuns = 200

/** The newest runs, and the one that is shown. */
function listedRuns(runs: ReadonlyMap<number, Run>, shown: Run | undefined): Run[] {
  if (runs.size <= mostRuns) return [...runs.values()]
  const newest = [...runs.values()].slice(-mostRuns)
  return shown === undefined || newest.includes(shown) ? newest : [shown, ...newest]
}

async function copyLink(store: Store): Promise<void> {
  try {
    await navigator.clipboard.writeText(linkTo(store, location.href))
  } catch {
    store.set({ problem: 'The browser does not allow the page to write to the clipboard.' })
  }
}

/** The state of the executor's chart, region by region. */
function RunState() {
  const { run } = useView()
  const actor = run?.actors.get(run.root)
  const chart = run?.charts.get(actor?.chart ?? '')
  if (actor === undefined || chart === undefined) return null
  const path = activeStates(chart, actor.active).names
  const regions = chart.nodes.filter(
    ({ parent }) => parent === chart.nodes[0]?.id && chart.nodes[0]?.kind === 'parallel',
  )
  return (
    <span class="run-state">
      {regions.map(({ key }) => (
        <span key={key}>
          {key} <b data-state={path[path.indexOf(key) + 1]}>{path[path.indexOf(key) + 1]}</b>
        </span>
      ))}
    </span>
  )
}

interface CommandWords {
  readonly label: string
  /** What the command does. */
  readonly says: string
}

/** For an executor without a query. Answers and detaching have their own places. */
const executorCommands: Partial<Readonly<Record<Command, CommandWords>>> = {
  interrupt: { label: 'Interrupt this turn', says: 'Calls that stop at an interrupt stop. The others finish.' },
  abort: { label: 'Stop this turn', says: 'Every call that is not completed stops and gets an error result.' },
  discard: { label: 'Discard this turn', says: 'Every call stops. No more results of this turn are handed over.' },
}

/** For a run of a query: commands go to the query, so the model is not asked again. */
const queryCommands: Partial<Readonly<Record<Command, CommandWords>>> = {
  interrupt: {
    label: 'Finish and stop',
    says: 'The model stops. Calls that block an interrupt finish. The agent ends.',
  },
  abort: { label: 'Stop the agent', says: 'The model and every call stop. The agent ends.' },
}

/** For an agent inside of another one. */
const subAgentCommands: Partial<Readonly<Record<Command, CommandWords>>> = {
  abort: {
    label: 'Stop the sub-agent',
    says: 'The model and every call of this sub-agent stop. The agent that started it goes on.',
  },
}

const wordsFor: Readonly<Record<Stoppable['kind'], Partial<Readonly<Record<Command, CommandWords>>>>> = {
  executor: executorCommands,
  query: queryCommands,
  subAgent: subAgentCommands,
}

/** Only commands that the host allows and the chart accepts now. They do not depend on the moment that is shown. */
function Commands() {
  const store = useStore()
  const { state, history, run: shown } = useView()
  if (state.source !== 'live') return null
  const send = async (run: Run, command: Command): Promise<void> => {
    const problem = await store.feed?.command(run.id, command)
    if (problem !== undefined) store.set({ problem })
  }
  return (
    <span class="commands">
      {stoppable(history.model, shown).flatMap(({ run, kind }) =>
        run.can.map((command) => {
          const words = state.allowed.includes(command) ? wordsFor[kind][command] : undefined
          if (words === undefined) return null
          return (
            <button type="button" key={words.label} title={words.says} onClick={() => void send(run, command)}>
              {words.label}
            </button>
          )
        }),
      )}
    </span>
  )
}
