import type { Store } from '../store.ts'
import { openCoverage } from './coverage-file.ts'
import { openLiveFeed } from './live-feed.ts'
import { type SessionShelf, sessionShelf } from './session-shelf.ts'
import { showRecording } from './show-recording.ts'

const begunAnew = 'The server has begun a new recording. The page shows it from its start.'

const isFull = 'Too many browsers are connected to the server. Close another one, and this page connects.'

const lostAs = { yes: 'reconnecting', full: 'reconnecting', refused: 'refused', gone: 'gone' } as const

/** Shows a server's live runs or its recording. */
export function connect(store: Store, origin: string, token: string): void {
  store.feed?.close()
  store.shelf = undefined
  store.reset('connecting')
  store.feed = openLiveFeed(origin, token, {
    onFrames: (frames) => store.take(frames),
    onHello: ({ source, commands, hasCoverage, hasSessions }, isNew) => {
      if (isNew) store.reset('live')
      const problem = store.state.problem === isFull ? undefined : store.state.problem
      store.set({ source, allowed: commands, problem: isNew ? begunAnew : problem })
      if (hasCoverage === true) void loadCoverage(store, origin, token)
      if (hasSessions === true && store.shelf === undefined) {
        const follow = source === 'live' ? () => connect(store, origin, token) : undefined
        store.shelf = sessionShelf(store, origin, token, follow)
        void store.shelf.load()
        void openLinked(store, store.shelf)
      }
      if (source === 'recording') void loadFrom(store, origin, token)
    },
    onLost: (reachable) =>
      store.set({ source: lostAs[reachable], allowed: [], ...(reachable === 'full' && { problem: isFull }) }),
    onSilent(silence) {
      const { source } = store.state
      if (source === 'live' || source === 'silent') store.set({ source: 'silent', silence })
    },
    onHeard: () => store.state.source === 'silent' && store.set({ source: 'live' }),
  })
}

/** The session that the page's address requests, and the one to compare it with. */
async function openLinked(store: Store, shelf: SessionShelf): Promise<void> {
  const { session, other } = store.link ?? {}
  if (session === undefined) return
  if (other === undefined) await shelf.open(session)
  else await shelf.compare(session, other)
}

async function loadFrom(store: Store, origin: string, token: string): Promise<void> {
  try {
    const response = await fetch(`${origin}/recording`, { headers: { authorization: `Bearer ${token}` } })
    if (!response.ok || response.body === null) throw new Error((await response.text()).trim())
    await showRecording(store, response.body)
  } catch (error) {
    store.set({ problem: error instanceof Error ? error.message : 'The recording cannot be read.' })
  }
}

async function loadCoverage(store: Store, origin: string, token: string): Promise<void> {
  try {
    const response = await fetch(`${origin}/coverage`, { headers: { authorization: `Bearer ${token}` } })
    if (!response.ok) throw new Error((await response.text()).trim())
    openCoverage(store, await response.text())
  } catch (error) {
    store.set({ problem: error instanceof Error ? error.message : 'The coverage cannot be read.' })
  }
}
