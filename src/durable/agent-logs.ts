import { isSignalboxError } from '../base/signalbox-error.ts'
import type { JournalStore } from '../journal/journal.ts'
import type { AgentAttempt, AgentOf } from '../journal/run-log.ts'
import { type PermissionLists, withRules } from '../permission/permission-settings.ts'
import type { AgentCallRef } from '../pipeline/ask-channel.ts'
import type { SessionQuestion } from '../query/session/question-book.ts'
import { agentId, outerOf, takenId } from './agent-ids.ts'
import type { SessionLog } from './session-log.ts'
import type { SessionRecords } from './session-records.ts'

/** Opens the log of an agent. */
export type OpenAgentLog = (
  id: string,
  mode: 'resume' | 'either',
  created: Readonly<Record<string, unknown>>,
) => Promise<SessionLog>

interface OpenAgent {
  readonly log: SessionLog
  readonly call: AgentCallRef
}

/**
 * The logs of the agents inside a session. They stay open as long as the outer one does, so that no earlier owner can
 * write to them and their questions can be answered while nothing runs.
 */
export class AgentLogs {
  readonly #open = new Map<string, OpenAgent>()
  /** The records of the session around the agents. */
  readonly #outer: SessionRecords
  readonly #store: JournalStore
  readonly #openLog: OpenAgentLog
  /** Logs that are being opened, by the id of the agent. */
  readonly #openings = new Map<string, Promise<SessionLog>>()
  /** Agents that are being let go of. */
  readonly #releases = new Set<Promise<void>>()

  constructor(outer: SessionRecords, store: JournalStore, openLog: OpenAgentLog) {
    this.#outer = outer
    this.#store = store
    this.#openLog = openLog
  }

  get(id: string): SessionLog | undefined {
    return this.#open.get(id)?.log
  }

  get logs(): SessionLog[] {
    return [...this.#open.values()].map(({ log }) => log)
  }

  get questions(): SessionQuestion[] {
    return [...this.#open.values()].flatMap(({ log, call }) =>
      log.questions.map((question) => ({ ...question, agents: [call, ...question.agents] })),
    )
  }

  /** The log that has a question, however deep inside. */
  withQuestion(question: string): SessionLog | undefined {
    return this.logs.find((log) => log.questions.some(({ id }) => id === question))
  }

  /** The log of an agent, however deep inside. */
  withSession(session: string): SessionLog | undefined {
    for (const log of this.logs) {
      const found = log.withSession(session)
      if (found !== undefined) return found
    }
    return undefined
  }

  get hasAnswered(): boolean {
    return this.logs.some(({ hasAnswered }) => hasAnswered)
  }

  /** The rules of the session and of its agents. */
  rulesWith(rules: PermissionLists): PermissionLists {
    return this.logs.reduce((all, agent) => withRules(all, agent.rules), rules)
  }

  /** First of all, so that no earlier owner goes on with them. A process that ended may have left an agent whose call is over. */
  async openAll(): Promise<void> {
    const { fold } = this.#outer
    for (const { session, ...of } of new Map([...fold.agents, ...fold.unended]).values()) {
      try {
        await this.#add(session, of, 'resume', {})
        if (!fold.agents.has(session)) await this.letGo(session)
      } catch (error) {
        // the process ended before the agent began
        if (!isSignalboxError(error) || error.code !== 'session_not_found') throw error
      }
    }
  }

  /** The log of the agent of a call: the one that is open, the one that the store has, or a new one. */
  open(of: AgentAttempt, created: Readonly<Record<string, unknown>>): Promise<SessionLog> {
    const id = this.#idOf(of)
    const known = this.get(id)
    if (known !== undefined) return Promise.resolve(known)
    // the body before this one may have been left behind while it waited for the same log
    const before = this.#openings.get(id)
    if (before !== undefined) return before
    const opening = this.#start(id, of, created)
    this.#openings.set(id, opening)
    const forget = (): void => void this.#openings.delete(id)
    opening.then(forget, forget)
    return opening
  }

  #idOf(of: AgentAttempt): string {
    const { fold, session } = this.#outer
    const isSame = ({ reply, call }: AgentOf): boolean => reply === of.reply && call === of.call
    const before = [...fold.agents.values()].filter(isSame).length
    return agentId(session, of, of.isRetry ? before + 1 : Math.max(before, 1))
  }

  async #start(id: string, of: AgentAttempt, created: Readonly<Record<string, unknown>>): Promise<SessionLog> {
    const outer = this.#outer
    const { session } = outer
    // an opening of this session finds every agent that there may be
    outer.append({ t: 'agent.started', optional: true, reply: of.reply, call: of.call, tool: of.tool, session: id })
    if ((await outer.flush()) === false) throw outer.failure
    const around = await outerOf(id, this.#store)
    if (around !== null && around !== session) throw takenId(id, session)
    return this.#add(id, of, 'either', created)
  }

  async #add(id: string, { call, tool }: AgentOf, mode: 'resume' | 'either', created: object): Promise<SessionLog> {
    const log = await this.#openLog(id, mode, { ...created, messages: [], outer: this.#outer.session })
    this.#open.set(id, { log, call: { toolUseID: call, toolName: tool } })
    log.hearAnswers()
    return log
  }

  /** An agent whose call is over never goes on. */
  letGoOfEnded(): void {
    if (this.#open.size === 0) return
    for (const id of [...this.#open.keys()]) if (!this.#outer.fold.agents.has(id)) void this.letGo(id)
  }

  letGo(id: string): Promise<void> {
    const release = this.#release(id)
    this.#releases.add(release)
    return release.finally(() => this.#releases.delete(release))
  }

  /** Lets go of the log of an agent. Its rules hold outside too; what it had not finished is over. */
  async #release(id: string): Promise<void> {
    const agent = this.#remove(id)
    if (agent === undefined) return
    const outer = this.#outer
    const { rules } = agent
    if (hasMore(rules, outer.fold.rules)) outer.append({ t: 'rules.added', optional: true, session: id, rules })
    const ended = { t: 'agent.ended', optional: true, session: id } as const
    if (agent.ended !== undefined) outer.append(ended)
    if (agent.isUnfinished) agent.append({ t: 'run.ended', reason: 'aborted_tools', took: agent.waiting, messages: [] })
    try {
      await agent.shut()
      // only now: until the end is durable, an opening of this session makes up for it
      if (outer.fold.unended.has(id) && agent.ended !== undefined) outer.append(ended)
    } catch {
      // the log of the agent has failed: the next opening of this session ends it
    }
  }

  #remove(id: string): SessionLog | undefined {
    const log = this.get(id)
    this.#open.delete(id)
    return log
  }

  async close(): Promise<void> {
    // a body that was left behind may be opening an agent
    await Promise.allSettled(this.#openings.values())
    await Promise.all(this.#releases)
    for (const id of [...this.#open.keys()])
      await this.#remove(id)
        ?.shut()
        .catch(() => undefined)
  }
}

const hasMore = (rules: PermissionLists, known: PermissionLists): boolean =>
  (['allow', 'ask', 'deny'] as const).some((list) =>
    rules[list]?.some((rule) => !(known[list] as readonly unknown[] | undefined)?.includes(rule)),
  )
