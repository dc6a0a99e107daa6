import { randomBytes } from 'node:crypto'
import type { StoredSession } from '../run/chat.ts'

/** A session in a folder. */
export async function storedSession(folder: string, id: string, mode: StoredSession['mode']): Promise<StoredSession> {
  const { fileJournals } = await import('signalbox/node')
  return { id, mode, folder, journals: fileJournals({ folder }) }
}

/** The session of a prompt: the one that is named, stored or not, or a new one. */
export const newSession = (folder: string, id: string | undefined): Promise<StoredSession> =>
  id === undefined
    ? storedSession(folder, randomBytes(6).toString('hex'), 'create')
    : storedSession(folder, id, 'either')
