import { useEffect, useRef } from 'preact/hooks'
import type { StoredSessionInfo } from '../../../src/inspect/index.ts'
import { useStore, useView } from '../use-view.ts'

const statusWords: Readonly<Record<StoredSessionInfo['status'], readonly [word: string, says: string, tone: string]>> =
  {
    running: ['live', 'A process has it open.', 'shared'],
    suspended: ['suspended', 'It waits: for an answer, or to be resumed.', 'held'],
    lost: ['lost', 'Its run is unfinished and no process has it open. Resume it.', 'unknown'],
    idle: ['idle', 'Nothing is left to do.', 'queued'],
    broken: ['broken', 'It cannot be read.', 'error'],
  }

/** The stored sessions, agents below the session that they belong to. */
export function Sessions() {
  const store = useStore()
  const { state } = useView()
  const { sessions: all = [], left = 0 } = state.sessions ?? {}
  const ids = new Set(all.map(({ id }) => id))
  const top = all.filter(({ outer }) => outer === undefined || !ids.has(outer))
  return (
    <div class="sessions">
      <p class="sum">
        {all.length === 0 ? 'No sessions are stored.' : `${all.length} sessions, the latest change first`}
        {left > 0 && `; ${left} older ones are not listed`}
        <button type="button" class="link" onClick={() => void store.shelf?.load()}>
          Refresh
        </button>
      </p>
      {top.length > 0 && (
        <ol aria-label="Stored sessions">
          {top.map((each) => (
            <SessionLine key={each.id} session={each} all={all} />
          ))}
        </ol>
      )}
    </div>
  )
}

interface LineProps {
  readonly session: StoredSessionInfo
  readonly all: readonly StoredSessionInfo[]
  /** A list may come from anyone: a circle ends. */
  readonly depth?: number
}

function SessionLine({ session, all, depth = 0 }: LineProps) {
  const store = useStore()
  const { state } = useView()
  const { id, status, problem, recovered } = session
  const [word, says, tone] = statusWords[status]
  const agents = depth > 16 ? [] : all.filter(({ outer }) => outer === id)
  return (
    <li>
      <div class={state.session === id ? 'session chosen' : 'session'}>
        <button
          type="button"
          class="link id"
          title={`Open ${id}`}
          disabled={problem !== undefined}
          onClick={() => void store.shelf?.open(id)}
        >
          {depth === 0 ? id : id.slice(id.lastIndexOf('/') + 1)}
        </button>
        <span class={`chip ${tone}`} title={says}>
          {word}
        </span>
        {recovered !== undefined && (
          <span class="chip accent" title={`Recovered by ${recovered.by} after ${recovered.from}`}>
            recovered
          </span>
        )}
        {session.unknown > 0 && <span class="chip unknown">{counted(session.unknown, 'unknown outcome')}</span>}
        {session.questions > 0 && <span class="chip held">{counted(session.questions, 'open question')}</span>}
        <span class="counts">
          {counted(session.turns, 'turn')}, {counted(session.calls, 'call')}, {timeWords(session.updatedAt)}
        </span>
      </div>
      {problem !== undefined && <p class="reason">{problem.message}</p>}
      {agents.length > 0 && (
        <ol aria-label={`Agents of ${id}`}>
          {agents.map((each) => (
            <SessionLine key={each.id} session={each} all={all} depth={depth + 1} />
          ))}
        </ol>
      )}
    </li>
  )
}

/** The list over what is shown. */
export function SessionsDialog() {
  const store = useStore()
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    button.current?.focus()
    void store.shelf?.load()
  }, [])
  return (
    <div class="dialog" role="dialog" aria-label="Stored sessions">
      <Sessions />
      <p class="sum">
        <button ref={button} type="button" class="link" onClick={() => store.set({ dialog: undefined })}>
          close
        </button>
      </p>
    </div>
  )
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

const timeWords = (at: number): string => {
  const time = new Date(at)
  return Number.isNaN(time.getTime()) || at === 0 ? 'at an unknown time' : time.toLocaleString('en-GB')
}
