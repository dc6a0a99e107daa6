import { invalidOption } from '../base/invalid-option.ts'
import { sha256 } from '../base/sha256.ts'
import type { JournalStore } from '../journal/journal.ts'
import { defaultIdsAndTime } from '../messages/ids-and-time.ts'
import { OpenCalls } from '../query/open-calls.ts'
import { checkOptions, readMessages } from '../query/options.ts'
import { Session } from '../query/session/session.ts'
import { checkSessionOptions, type SessionOptions } from '../query/session/session-options.ts'
import { toolSchemas } from '../tool/tool-schemas.ts'
import { startOf } from './open-start.ts'
import { SessionLog } from './session-log.ts'

export interface OpenSessionOptions extends SessionOptions {
  /** Names the session in its store. */
  id: string
  /** Where the session is kept: `memoryJournals()`, `fileJournals({ folder })` or a store of your own. */
  journals: JournalStore
  /**
   * Names this process.
   * @default a random name
   */
  owner?: string | undefined
  /**
   * `create` fails if the session exists, `resume` if it does not.
   * @default 'either'
   */
  mode?: 'create' | 'resume' | 'either' | undefined
  /**
   * Keys of the context that are stored as JSON, so that changes by context modifiers survive a resume.
   * @default none
   */
  contextKeys?: readonly string[] | undefined
}

/**
 * Opens a session that survives its process: a new one, or a stored one. After a crash or a suspension, nothing runs until
 * `resume` or `send`; `questions()` lists the questions that are still open.
 *
 * @example
 * const session = await openSession({ id: 'invoice-7', journals, tools, model })
 * if (session.status === 'suspended') for await (const message of session.resume()) show(message)
 */
export async function openSession(given: OpenSessionOptions): Promise<Session> {
  checkSessionOptions(given)
  const { journals, mode = 'either', contextKeys = [], messages = [], ...more } = given
  const { owner = `owner_${defaultIdsAndTime.uuid()}`, ...options } = more
  const { id, ...queryOptions } = options
  if (typeof journals?.open !== 'function') invalidOption('journals', 'a journal store', journals)
  if (!Array.isArray(contextKeys)) invalidOption('contextKeys', 'an array of keys', contextKeys)
  checkOptions({ ...queryOptions, messages }, ['id', 'journals', 'owner', 'mode', 'contextKeys'])
  // a service rejects calls without results: they are answered, or they become the open turn of the log
  const begun = new OpenCalls(readMessages(messages), options.openCalls, defaultIdsAndTime)
  const created = { ...startOf(begun), tools: toolHashes(options.tools) }
  const log = await SessionLog.open(id, { store: journals, owner, contextKeys, prices: options.prices }, mode, created)
  log.report(begun.report().filter((message) => message.type === 'system'))
  try {
    return new Session(options, log)
  } catch (error) {
    // a model that does not fit the limits, for example
    await log.close().catch(() => undefined)
    throw error
  }
}

/** Recorded so that a person can compare the log with the current tools. */
function toolHashes(tools: SessionOptions['tools']): Record<string, string> {
  const now = typeof tools === 'function' ? tools() : tools
  return Object.fromEntries(
    toolSchemas(now).map(({ name, input_schema }) => [name, sha256(JSON.stringify(input_schema)).slice(0, 16)]),
  )
}
