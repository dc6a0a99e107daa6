import { LazyAbortController } from '../../base/lazy-abort-controller.ts'
import type { Message } from '../../messages/message.ts'
import { type AskedCall, channelOf } from '../../pipeline/ask-channel.ts'
import type { RecordedCall } from '../../pipeline/recorded-call.ts'
import type { CanUseTool } from '../../tool/permission.ts'
import type { ToolUseContext } from '../../tool/tool-use-context.ts'
import type { Account } from '../../usage/account.ts'
import type { Query } from '../query.ts'
import type { QueryMessage, QueryResult } from '../query-message.ts'
import type { SessionQuestion } from '../session/question-book.ts'
import { Session } from '../session/session.ts'
import { openMessages, type SessionJournal } from '../session/session-journal.ts'
import type { SessionOptions } from '../session/session-options.ts'

export interface AgentJob {
  readonly options: SessionOptions
  readonly prompt: string
  readonly canUseTool: CanUseTool | undefined
  /** The context for the calls of the agent. */
  readonly context: Partial<ToolUseContext>
  /** The controller of the call that the agent works for. */
  readonly controller: AbortController
  /** The account of the agent. `isNew`: no earlier process has counted it. */
  account(session: string, isNew: boolean): Account | undefined
  onMessage(message: QueryMessage): void
  /** Returns what to do when the run has ended. */
  onRun(run: Query): () => void
}

interface AgentEnd {
  readonly result: QueryResult
  readonly transcript: readonly Message[]
}

/** By the log of an agent: the session that is on it, or that will be when those before it have closed. */
const underWay = new WeakMap<SessionJournal, Promise<Session | undefined>>()

/** The agent of a call that is recorded: a session of its own, which goes on where an earlier process left it. */
export async function runAgentSession(recorded: RecordedCall, job: AgentJob): Promise<AgentEnd> {
  // the log of a session gives its agents logs of the same kind
  const journal = (await recorded.log.openAgent(recorded.attempt, {})) as SessionJournal
  const opening = openAfter(underWay.get(journal), journal, job)
  underWay.set(journal, opening)
  const session = await opening
  if (session === undefined) return endOf(journal)
  const stopAsking = passOnQuestions(session, job.canUseTool)
  const view = session.messages({ after: [...session.transcript, ...openMessages(journal)].at(-1)?.uuid })
  const reading = readTo(view, job.onMessage)
  try {
    const result = await drive(session, journal, recorded, job)
    return { result, transcript: session.transcript }
  } finally {
    await session.close()
    stopAsking()
    await reading
  }
}

/**
 * A body that did not stop in time may still be under way: two sessions on one log would run calls twice.
 * Undefined if the agent has ended, or if the session around it was suspended meanwhile.
 */
async function openAfter(
  before: Promise<Session | undefined> | undefined,
  journal: SessionJournal,
  job: AgentJob,
): Promise<Session | undefined> {
  const last = await before?.catch(() => undefined)
  await last?.close()
  if (journal.ended !== undefined || isSuspended(job)) return undefined
  const { options, context, canUseTool } = job
  const own = { ...context, abortController: new LazyAbortController() }
  const account = job.account(journal.session, !journal.isUnfinished && !journal.isCounted)
  return new Session({ ...options, id: journal.session, canUseTool, context: own, account }, journal)
}

const isSuspended = ({ controller: { signal } }: AgentJob): boolean => signal.aborted && signal.reason === 'suspend'

async function endOf(journal: SessionJournal): Promise<AgentEnd> {
  const { ended, transcript } = journal
  if (ended === undefined) return { result: suspended, transcript }
  await journal.close()
  return { result: resultOf(ended), transcript }
}

const suspended = { reason: 'suspended' } as QueryResult

/** Resolves when the agent has ended, or when it is suspended with the session around it. */
function drive(session: Session, journal: SessionJournal, recorded: RecordedCall, job: AgentJob): Promise<QueryResult> {
  const { signal } = job.controller
  return new Promise((resolve) => {
    // a run that is active ends by itself
    const stopHearing = journal.onFailure((error) => {
      if (session.status !== 'running') end({ reason: 'journal_error', error } as QueryResult)
    })
    const end = (result: QueryResult): void => {
      stopHearing()
      resolve(result)
    }
    const stop = (): void => {
      if (signal.reason === 'suspend') return void session.suspend().then(() => end(suspended))
      // calls that wait for a person get their results as the run ends
      if (session.status === 'suspended') session.resume()
      session.abort(signal.reason)
    }
    const stopAsked = (): void => {
      if (session.status !== 'suspended') return
      session.resume()
      session.abort('agent_stopped')
    }
    let leave = (): void => undefined
    session.on('run_started', ({ run }) => {
      recorded.isSuspended = false
      const { signal: own } = run.context.abortController
      // somebody inside stops everything, the turn of this call included
      own.addEventListener('abort', () => {
        if (!signal.aborted) job.controller.abort(own.reason)
      })
      leave = job.onRun(run)
    })
    session.on('run_ended', ({ result }) => {
      leave()
      if (result.reason !== 'suspended') {
        signal.removeEventListener('abort', stop)
        return end(result)
      }
      recorded.isSuspended = true
      // told to stop, and what is left waits for a person: the call of the agent does not
      if (signal.aborted && signal.reason !== 'suspend') queueMicrotask(stopAsked)
    })
    signal.addEventListener('abort', stop)
    if (journal.isUnfinished) session.resume()
    else session.send(job.prompt)
    if (signal.aborted) stop()
  })
}

async function readTo(view: AsyncIterable<QueryMessage>, take: (message: QueryMessage) => void): Promise<void> {
  for await (const message of view) take(message)
}

/** Those of the agent, and of agents inside it, are questions of the session around it. */
function passOnQuestions(session: Session, canUseTool: CanUseTool | undefined): () => void {
  const around = channelOf(canUseTool)
  const listener = around?.questions
  if (around === undefined || listener === undefined) return () => undefined
  const open = new Map<string, AskedCall>()
  const close = (id: string): void => {
    const asked = open.get(id)
    open.delete(id)
    if (asked !== undefined) listener.closed(asked)
  }
  session.on('question_opened', (question: SessionQuestion) => {
    // answers go to the log of the agent
    const asked = { ...question, agents: [...around.agents, ...question.agents], reply: '', answer: () => false }
    open.set(question.id, asked)
    listener.opened(asked)
  })
  session.on('question_closed', ({ id }) => close(id))
  return () => {
    for (const id of [...open.keys()]) close(id)
  }
}

/** As the log tells it: an error is a text there. */
function resultOf({ reason, error, limit }: NonNullable<SessionJournal['ended']>): QueryResult {
  const given = error === undefined ? {} : { error: new Error(error) }
  return { reason, stopReason: undefined, ...given, ...limit } as QueryResult
}
