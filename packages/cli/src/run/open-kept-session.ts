import { hostname } from 'node:os'
import { createSession, type Message, type QueryOptions, type Session } from 'signalbox'
import type { Io } from '../io.ts'
import { explainMissing } from '../sessions/stored-session.ts'
import { plainWord } from '../shell-word.ts'
import { usageError } from '../usage-error.ts'
import type { StoredSession } from './chat.ts'

interface Kept {
  readonly prompt?: string | undefined
  readonly stored?: StoredSession | undefined
  readonly before?: readonly Message[] | undefined
}

/** One session for all prompts: in memory, or in a journal. */
export async function openKeptSession(
  options: Omit<QueryOptions, 'messages'>,
  { prompt, stored, before = [] }: Kept,
  io: Io,
): Promise<Session> {
  if (stored === undefined) return createSession({ ...options, messages: [...before] })
  const { id, journals, mode, folder } = stored
  const { openSession } = await import('signalbox/durable')
  // shown to whoever finds it locked, or looks at it later
  const owner = `${io.env.USER ?? 'signalbox'}@${hostname()}`
  const session = await openSession({ ...options, id, journals, mode, owner }).catch(explainMissing(id, folder))
  if (prompt !== undefined || session.status !== 'idle') return session
  await session.close()
  const place = `--journal ${plainWord(folder)} --session ${plainWord(id)}`
  throw usageError(
    `Session ${id} has nothing to resume: its last run has ended. Send it a prompt: signalbox run "<prompt>" ${place}`,
  )
}
