import { useEffect, useRef, useState } from 'preact/hooks'
import type { StoredSessionInfo } from '../../../src/inspect/index.ts'
import { useStore, useView } from '../use-view.ts'
import { Dialog } from './dialog.tsx'

const statusWords: Readonly<Record<StoredSessionInfo['status'], readonly [word: string, says: string, tone: string]>> =
  {
    running: ['live', 'A process has the session open.', 'shared'],
    suspended: ['suspended', 'The session waits for an answer, or until somebody resumes it.', 'held'],
    lost: ['lost', 'The run is unfinished and no process has the session open. Resume the session.', 'unknown'],
    idle: ['idle', 'Every run of the session has ended.', 'queued'],
    broken: ['broken', 'The journal cannot be read.', 'error'],
  }

/** The stored sessions, agents below the session that they belong to. Any two can be compared. */
export function Sessions() {
  const store = useStore()
  const { state } = useView()
  const [text, setText] = useState('')
  const [status, setStatus] = useState<StoredSessionInfo['status'] | 'any' | 'recovered' | 'asks'>('any')
  const [marked, setMarked] = useState<readonly string[]>([])
  const { sessions: all = [], left = 0 } = state.sessions ?? {}
  const found = all.filter((each) => isWanted(each, text.trim().toLowerCase(), status))
  const ids = new Set(found.map(({ id }) => id))
  const top = found.filter(({ outer }) => outer === undefined || !ids.has(outer))
  const [one, other] = marked
  const follow = store.shelf?.follow
  // the newest two marks count
  const mark = (id: string): void =>
    setMarked(marked.includes(id) ? marked.filter((each) => each !== id) : [...marked.slice(-1), id])
  return (
    <div class="sessions">
      <div class="filters">
        <input
          type="search"
          placeholder="Find a session"
          aria-label="Find a session"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <select
          aria-label="Status"
          value={status}
          onChange={({ currentTarget }) => setStatus(currentTarget.value as typeof status)}
        >
          <option value="any">every status</option>
          {Object.entries(statusWords).map(([name, [word]]) => (
            <option key={name} value={name}>
              {word}
            </option>
          ))}
          <option value="recovered">recovered</option>
          <option value="asks">with open questions</option>
        </select>
        <button type="button" class="link" onClick={() => void store.shelf?.load()}>
          Refresh
        </button>
        <button
          type="button"
          class="compare-two"
          disabled={one === undefined || other === undefined}
          title="Mark two sessions to compare them turn by turn"
          onClick={() => one !== undefined && other !== undefined && void store.shelf?.compare(one, other)}
        >
          Compare the two marked
        </button>
      </div>
      <p class="sum">
        {all.length === 0
          ? 'No sessions are stored.'
          : `${found.length === all.length ? counted(all.length, 'session') : `${found.length} of ${counted(all.length, 'session')}`}, the latest change first`}
        {left > 0 && `; ${left} older ones are not listed`}
        {follow !== undefined && state.source === 'recording' && (
          <button
            type="button"
            class="link"
            onClick={() => {
              store.set({ dialog: undefined })
              follow()
            }}
          >
            Back to the live runs
          </button>
        )}
      </p>
      {top.length > 0 && (
        <ol aria-label="Stored sessions">
          {top.map((each) => (
            <SessionLine key={each.id} session={each} all={found} marked={marked} mark={mark} />
          ))}
        </ol>
      )}
    </div>
  )
}

function isWanted(session: StoredSessionInfo, text: string, status: string): boolean {
  const { id, owner = '', recovered, questions } = session
  const isText = text === '' || `${id} ${owner} ${recovered?.by ?? ''}`.toLowerCase().includes(text)
  if (!isText || status === 'any') return isText
  if (status === 'recovered') return recovered !== undefined
  return status === 'asks' ? questions > 0 : session.status === status
}

interface LineProps {
  readonly session: StoredSessionInfo
  readonly all: readonly StoredSessionInfo[]
  readonly marked: readonly string[]
  readonly mark: (id: string) => void
  /** A list may come from anyone: a circle ends. */
  readonly depth?: number
}

function SessionLine({ session, all, marked, mark, depth = 0 }: LineProps) {
  const store = useStore()
  const { state } = useView()
  const { id, status, problem, recovered, owner } = session
  const [word, says, tone] = statusWords[status]
  const agents = depth > 16 ? [] : all.filter(({ outer }) => outer === id)
  return (
    <li>
      <div class={state.session === id ? 'session chosen' : 'session'}>
        <input
          type="checkbox"
          aria-label={`Mark ${id} for a comparison`}
          checked={marked.includes(id)}
          disabled={problem !== undefined}
          onChange={() => mark(id)}
        />
        <button
          type="button"
          class="link id"
          title={`Open ${id}`}
          disabled={problem !== undefined}
          onClick={() => void store.shelf?.open(id)}
        >
          {depth === 0 ? id : id.slice(id.lastIndexOf('/') + 1)}
        </button>
        <span class="marks">
          <span class={`chip ${tone}`} title={owner === undefined ? says : `${says} Owner: ${owner}.`}>
            {word}
          </span>
          {recovered !== undefined && (
            <span class="chip accent" title={`Recovered by ${recovered.by} after ${recovered.from}`}>
              recovered
            </span>
          )}
          {session.unknown > 0 && <span class="chip unknown">{counted(session.unknown, 'unknown outcome')}</span>}
          {session.questions > 0 && <span class="chip held">{counted(session.questions, 'open question')}</span>}
        </span>
        <span class="counts">
          {counted(session.turns, 'turn')}, {counted(session.calls, 'call')}
        </span>
        <time class="counts" title="Last change">
          {timeWords(session.updatedAt)}
        </time>
      </div>
      {problem !== undefined && <p class="reason">{problem.message}</p>}
      {agents.length > 0 && (
        <ol aria-label={`Agents of ${id}`}>
          {agents.map((each) => (
            <SessionLine key={each.id} session={each} all={all} marked={marked} mark={mark} depth={depth + 1} />
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
    <Dialog label="Stored sessions">
      <Sessions />
      <p class="sum">
        <button ref={button} type="button" class="link" onClick={() => store.set({ dialog: undefined })}>
          close
        </button>
      </p>
    </Dialog>
  )
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

const timeWords = (at: number): string => {
  const time = new Date(at)
  return Number.isNaN(time.getTime()) || at === 0 ? 'at an unknown time' : time.toLocaleString('en-GB')
}
