import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { isSignalboxError } from 'signalbox'
import type { JournalStore } from 'signalbox/durable'
import type { StoredSession } from '../run/chat.ts'
import { plainWord } from '../shell-word.ts'
import { usageError } from '../usage-error.ts'

/** The sessions of a folder, which need not exist. */
export async function journalsIn(folder: string): Promise<JournalStore> {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
    throw usageError(`--journal: expected a folder, but ${folder} is a file.`)
  const { fileJournals } = await import('signalbox/node')
  return fileJournals({ folder })
}

/** A session in a folder. */
export async function storedSession(folder: string, id: string, mode: StoredSession['mode']): Promise<StoredSession> {
  return { id, mode, folder, journals: await journalsIn(folder) }
}

/** The session of a prompt: the one that is named, stored or not, or a new one. */
export const newSession = (folder: string, id: string | undefined): Promise<StoredSession> =>
  id === undefined
    ? storedSession(folder, randomBytes(6).toString('hex'), 'create')
    : storedSession(folder, id, 'either')

/** For `catch`: says where a missing session was looked for, and how to find the others. */
export const explainMissing =
  (id: string, folder: string) =>
  (error: unknown): never => {
    if (!isSignalboxError(error) || error.code !== 'session_not_found') throw error
    throw usageError(
      `Session ${id} does not exist in ${folder}. List the sessions: signalbox sessions --journal ${plainWord(folder)}`,
      error,
    )
  }
