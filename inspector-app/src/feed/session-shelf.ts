import type { StoredSessionList } from '../../../src/inspect/index.ts'
import { againstOf } from '../model/against.ts'
import type { Store } from '../store.ts'
import { showRecording } from './show-recording.ts'

/** The stored sessions of a server. */
export interface SessionShelf {
  /** Lists them again. */
  load(): Promise<void>
  /** Shows one of them as a recording. */
  open(id: string): Promise<void>
  /** Shows one as a recording, beside another one. */
  compare(id: string, other: string): Promise<void>
  /** One of them as a recording, for a comparison. Throws if the server refuses it. */
  read(id: string): Promise<ReadableStream<Uint8Array>>
  /** Returns to the live runs of the server, if it has any. */
  readonly follow: (() => void) | undefined
}

export function sessionShelf(store: Store, origin: string, token: string, follow?: () => void): SessionShelf {
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
  const read = async (id: string): Promise<ReadableStream<Uint8Array>> => {
    const { body } = await get(`/session?${new URLSearchParams({ id })}`)
    if (body === null) throw new Error('The server sent no recording.')
    return body
  }
  const show = async (id: string): Promise<void> => {
    const body = await read(id)
    const shown = showRecording(store, body)
    store.set({ dialog: undefined, session: id })
    await shown
  }
  return {
    load: () =>
      attempt(async () => store.set({ sessions: (await (await get('/sessions')).json()) as StoredSessionList })),
    open: (id) => attempt(() => show(id)),
    compare: (id, other) =>
      attempt(async () => {
        if (store.state.session !== id) await show(id)
        store.set({ dialog: undefined, tab: 'compare' })
        await againstOf(store.history).open(other, await read(other), other)
        store.set({})
      }),
    read,
    follow,
  }
}
