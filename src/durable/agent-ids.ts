import { isSignalboxError, SignalboxError } from '../base/signalbox-error.ts'
import { wellFormed } from '../base/well-formed.ts'
import type { JournalStore } from '../journal/journal.ts'
import { outerIn } from '../journal/pending-records.ts'
import type { AgentOf } from '../journal/run-log.ts'

/** A service may send any id: no two agents have the same, whatever is in it. */
export function agentId(session: string, { reply, call }: AgentOf, attempt: number): string {
  const id = [session, ...[reply, call].map((part) => encodeURIComponent(wellFormed(part)))].join('/')
  // not a character of an encoded id
  return attempt === 1 ? id : `${id}@${attempt}`
}

export const takenId = (id: string, session: string): SignalboxError =>
  new SignalboxError(
    'session_exists',
    `Session ${id} exists and is not an agent of session ${session}, which needs this id for one. Use ids without "/" for your own sessions.`,
  )

/** Only the session around an agent knows the call that it works for. Read first: opening would fence the owner. */
export async function refuseAgent(id: string, store: JournalStore): Promise<void> {
  // the id of an agent has its reply and its call
  const outer = typeof id === 'string' && id.includes('/') ? await outerOf(id, store) : undefined
  if (outer === undefined || outer === null) return
  throw new SignalboxError(
    'invalid_option',
    `Session ${id} is an agent of session ${outer} and cannot be opened by itself. Open ${outer}: its questions are listed there.`,
  )
}

/** The session around a stored one; undefined if it is no agent, null if it does not exist. */
export async function outerOf(id: string, store: JournalStore): Promise<string | undefined | null> {
  try {
    for await (const created of store.read(id)) return outerIn(created)
    return null
  } catch (error) {
    if (isSignalboxError(error) && error.code === 'session_not_found') return null
    throw error
  }
}
