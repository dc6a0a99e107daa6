import type { JournalRecord } from '../journal/journal.ts'
import type { OpenTurn } from '../journal/open-turn.ts'
import type { Message, UserMessage } from '../messages/message.ts'
import type { PermissionLists } from '../permission/permission-settings.ts'
import type { AgentCallRef } from '../pipeline/ask-channel.ts'
import type { SessionQuestion } from '../query/session/question-book.ts'
import type { RunUsage } from '../usage/usage-total.ts'
import { foldInto, SessionFold } from './session-fold.ts'

/** The state of a session, derived from its records. */
export interface FoldedSession {
  readonly id: string
  readonly status: 'idle' | 'running' | 'suspended'
  /** The conversation up to the last turn that is over. */
  readonly transcript: readonly Message[]
  /** Messages that are sent and not yet part of the conversation. */
  readonly waiting: readonly UserMessage[]
  /** The unfinished reply, with the recorded state of each of its calls. */
  readonly turn: OpenTurn | undefined
  /** Its own open questions. Those of its agents are in the logs of the agents. */
  readonly questions: readonly SessionQuestion[]
  /** Agents whose calls are not over. Each is a session of its own. */
  readonly agents: readonly (AgentCallRef & { readonly session: string })[]
  /** Rules that came with answers. */
  readonly rules: PermissionLists
  /** The keys of the context that are kept. */
  readonly context: Readonly<Record<string, unknown>>
  /** Without costs: a log has no prices. */
  readonly usage: RunUsage
  /** Why the last run ended; undefined while a run is unfinished. */
  readonly reason: string | undefined
  /** The owners that opened the session, in order. */
  readonly owners: readonly string[]
}

/**
 * The state of a session from its records alone. Throws `journal_newer` at a record that it does not know and may not
 * skip.
 *
 * @example
 * const { transcript, questions } = foldJournal(await Array.fromAsync(journals.read('invoice-7')))
 */
export function foldJournal(records: Iterable<JournalRecord>): FoldedSession {
  const all = [...records]
  const id = String(all[0]?.id ?? '')
  const fold = foldInto(new SessionFold(), id, all)
  const { status, waiting, turn, rules, context, owners } = fold
  return {
    id,
    status,
    transcript: fold.transcript.messages,
    waiting,
    turn,
    questions: fold.openQuestions,
    agents: [...fold.agents.values()].map(({ session, call, tool }) => ({ session, toolUseID: call, toolName: tool })),
    rules,
    context,
    usage: fold.usage.usage,
    reason: fold.result?.reason,
    owners,
  }
}
