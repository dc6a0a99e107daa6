import type { StoredSessionList } from '../../../src/inspect/index.ts'
import type { Store } from '../store.ts'
import { showRecording } from './show-recording.ts'

/** The stored sessions of a server. */
export interface SessionShelf {
  /** Lists them again. */
  load(): Promise<void>
  /** Shows one of them as a recording. */
  open(id: string): Promise<void>
}

export function sessionShelf(store: Store, origin: string, token: string): SessionShelf {
  const get = async (path: string): Promise<Response> => {
    const response = await fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${token}` } })
    if (!response.ok) throw new Error((await response.text()).trim())
    return response
  }
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    try {
      await act()
    } catch (error) {
      store.set({ problem: error instanceof Error ? error.message : 'The server does not answer.' })
    }
  }
  return {
    load: () =>
      attempt(async () => store.set({ sessions: (await (await get('/sessions')).json()) as StoredSessionList })),
    open: (id) =>
      attempt(async () => {
        const { body } = await get(`/session?${new URLSearchParams({ id })}`)
        if (body === null) throw new Error('The server sent no recording.')
        store.set({ dialog: undefined, session: id })
        await showRecording(store, body)
      }),
  }
}
