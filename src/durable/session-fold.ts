import type { SignalboxError } from '../base/signalbox-error.ts'
import { hasItsFields } from '../journal/check-fields.ts'
import type { JournalRecord, NewRecord } from '../journal/journal.ts'
import { journalCorrupt } from '../journal/journal-errors.ts'
import { changesOf, type KeptContext } from '../journal/kept-context.ts'
import type { LoggedBackground, LoggedCall, OpenTurn } from '../journal/open-turn.ts'
import { checkRecord } from '../journal/record-types.ts'
import type { RecordedQuestion, Records, RecordType } from '../journal/records.ts'
import type { AssistantMessage, Message, UserMessage } from '../messages/message.ts'
import { type PermissionLists, withRules } from '../permission/permission-settings.ts'
import type { SessionQuestion } from '../query/session/question-book.ts'
import { Transcript } from '../query/transcript.ts'
import { type Prices, type RequestOpened, UsageTotal } from '../usage/usage-total.ts'
import { type OpenStart, openTurnOf } from './open-start.ts'

/** An unanswered question, with the call that asks. */
export interface FoldedQuestion {
  readonly id: string
  readonly reply: string
  readonly call: string
  readonly shown: RecordedQuestion
}

/** An agent whose call is not over. */
export interface FoldedAgent {
  /** The id of the agent's own session. */
  readonly session: string
  readonly reply: string
  readonly call: string
  readonly tool: string
}

type Fields<Type extends RecordType> = Records[Type]

export interface StateOfHost {
  readonly rules: PermissionLists
  readonly context: Record<string, unknown>
}

/** The state of a session, updated with each record and derived from records alone. */
export class SessionFold {
  transcript = new Transcript([])
  readonly usage: UsageTotal
  /** Requests under way, those of agents included, by number. */
  readonly requests = new Map<number, RequestOpened>()
  /** Agents, however deep inside, that are counted, with the last reply whose calls are. */
  readonly counted = new Map<string, string | undefined>()
  status: 'idle' | 'running' | 'suspended' = 'idle'
  rules: PermissionLists = {}
  context: Record<string, unknown> = {}
  /** The rules and the context before each change, with the length that the conversation had then. */
  readonly #before: (StateOfHost & { readonly length: number })[] = []
  /** Sent, and not yet part of the conversation. */
  waiting: UserMessage[] = []
  turn: OpenTurn | undefined
  /** By id. */
  readonly background = new Map<string, LoggedBackground>()
  backgroundCount = 0
  /** Replies of the current run that count. */
  turns = 0
  usesFallback = false
  /** The ids of all replies, discarded ones included. */
  readonly replies = new Set<string>()
  result: Fields<'run.ended'> | undefined
  readonly owners: string[] = []
  /** Messages that were shown and are not part of the conversation, each with the one before it that is. */
  readonly reports = new Map<string, string>()
  readonly questions = new Map<string, FoldedQuestion>()
  /** By the id of the agent's session. */
  readonly agents = new Map<string, FoldedAgent>()
  /** Agents whose logs may be without an end, whether or not their calls are over. */
  readonly unended = new Map<string, FoldedAgent>()

  constructor(prices?: Prices) {
    this.usage = new UsageTotal(prices)
  }

  take(record: NewRecord | JournalRecord): void {
    const step = steps[record.t as RecordType] as ((fold: SessionFold, fields: unknown) => void) | undefined
    step?.(this, record)
  }

  /** Whether there is work to resume. */
  get isUnfinished(): boolean {
    return this.status !== 'idle' || this.waiting.length > 0
  }

  /** A call of the open turn has its answer and can continue. */
  get hasAnswered(): boolean {
    const agents = new Set([...this.agents.values()].map(({ call }) => call))
    return [...(this.turn?.calls ?? [])].some(
      ([id, { answer, started, completed }]) =>
        // one that has started waits for its agent
        answer !== undefined && started === undefined && completed === undefined && !agents.has(id),
    )
  }

  get openQuestions(): SessionQuestion[] {
    return [...this.questions.values()].map(({ id, call, shown: { toolName, input, because, message, rule } }) => ({
      id,
      agents: [],
      toolUseID: call,
      toolName,
      input,
      because,
      ...(message !== undefined && { message }),
      ...(rule !== undefined && { rule }),
    }))
  }

  change(to: Partial<StateOfHost>): void {
    const { length } = this.transcript.messages
    const { rules, context } = this
    if (this.#before.at(-1)?.length !== length) this.#before.push({ length, rules, context })
    Object.assign(this, to)
  }

  /** The rules and the context at the end of so many messages of the conversation. */
  stateAt(length: number): StateOfHost {
    return this.#before.find((before) => length <= before.length) ?? this
  }

  callOf(reply: string, id: string): LoggedCall | undefined {
    return this.turn?.reply === reply ? this.turn.calls.get(id) : undefined
  }

  enter(took: readonly string[]): void {
    for (const uuid of took) {
      const message = this.waiting.find((each) => each.uuid === uuid)
      if (message !== undefined) this.transcript.push(message)
    }
    this.waiting = this.waiting.filter(({ uuid }) => !took.includes(uuid))
  }

  endAgents(isOver: (agent: FoldedAgent) => boolean): void {
    if (this.agents.size === 0) return
    for (const [id, agent] of this.agents) if (isOver(agent)) this.agents.delete(id)
  }

  closeQuestions(isClosed: (question: FoldedQuestion) => boolean): void {
    if (this.questions.size === 0) return
    for (const [id, question] of this.questions) if (isClosed(question)) this.questions.delete(id)
  }
}

/** Throws at a record that is unknown and may not be skipped, and at one whose fields somebody has changed. */
export function foldInto(fold: SessionFold, id: string, records: Iterable<JournalRecord>): SessionFold {
  for (const record of records) {
    checkRecord(id, record)
    if (!hasItsFields(record)) throw wrongFields(id, record)
    try {
      fold.take(record)
    } catch (error) {
      throw wrongFields(id, record, error)
    }
  }
  return fold
}

const wrongFields = (id: string, { n, t }: JournalRecord, cause?: unknown): SignalboxError =>
  journalCorrupt(id, `record ${n}`, `its fields are not those of a ${t}`, cause)

interface Created extends Partial<OpenStart>, Partial<KeptContext> {
  readonly rules?: PermissionLists
}

type Steps = { [Type in RecordType]?: (fold: SessionFold, fields: Fields<Type>) => void }

const steps: Steps & { [type: string]: unknown } = {
  'session.created': (fold: SessionFold, { messages = [], rules = {}, context = {}, unset, open }: Created) => {
    fold.transcript = new Transcript(messages)
    fold.rules = rules
    fold.context = changesOf({ context, unset })
    if (open === undefined) return
    fold.turn = openTurnOf(open)
    fold.status = 'suspended'
  },
  'session.opened': (fold: SessionFold, { owner }: { owner: string }) => {
    fold.owners.push(owner)
    // a call that went to the background and was not completed: nobody knows of it, and the call itself is recovered
    for (const past of fold.turn?.calls.values() ?? []) if (past.completed === undefined) past.background = undefined
  },
  'message.sent': (fold, { message }) => {
    fold.waiting.push(message)
    fold.status = 'running'
  },
  'reply.started': (fold, { reply, took }) => {
    if (fold.status !== 'running' || fold.result !== undefined) begin(fold)
    if (fold.transcript.awaitsService && took.length > 0) fold.transcript.letGo()
    fold.enter(took)
    fold.replies.add(reply)
    fold.turn = { reply, blocks: [], calls: new Map() }
  },
  'reply.block': ({ turn }, block) => {
    if (turn?.reply !== block.reply) return
    turn.blocks.push(block)
    for (const { type, id } of block.message.message.content) {
      if (type === 'tool_use') turn.calls.set(String(id), {})
    }
  },
  'reply.stopped': (fold, stopped) => {
    if (fold.turn?.reply === stopped.reply) fold.turn.stopped = stopped
    if (stopped.usesFallback === true) fold.usesFallback = true
  },
  'permission.asked': (fold, asked) => {
    const { reply, call, question, shown } = asked
    const past = fold.callOf(reply, call)
    if (past !== undefined) past.asked = asked
    fold.closeQuestions((each) => each.reply === reply && each.call === call)
    fold.questions.set(question, { id: question, reply, call, shown })
  },
  'permission.answered': (fold, { reply, call, question, answer }) => {
    const past = fold.callOf(reply, call)
    if (past !== undefined) past.answer = answer
    fold.questions.delete(question)
    if (answer.addRules !== undefined) fold.change({ rules: withRules(fold.rules, answer.addRules) })
  },
  'call.started': (fold, started) => {
    const past = fold.callOf(started.reply, started.call)
    if (past !== undefined) past.started = started
  },
  'call.completed': (fold, { reply, call, messages, read, ending, context, unset }) => {
    const past = fold.callOf(reply, call)
    if (past !== undefined) {
      past.completed = messages
      past.changes = context && changesOf({ context, unset })
      past.hasRun = ending?.by !== 'answer' && ending?.reached !== 'notStarted'
      past.read = read
    }
    fold.closeQuestions((each) => each.reply === reply && each.call === call)
    const background = past?.background
    // an agent in the background goes on
    if (background === undefined) fold.endAgents((each) => each.reply === reply && each.call === call)
    else fold.background.set(background.started.id, background)
  },
  'context.changed': (fold, { reply, call, ...kept }) => {
    const past = fold.callOf(reply, call)
    if (past !== undefined) past.changes = undefined
    if (fold.turn?.reply === reply) fold.turn.contextBefore ??= fold.context
    fold.change({ context: changesOf(kept) })
  },
  'agent.started': (fold, { session, reply, call, tool }) => {
    fold.agents.set(session, { session, reply, call, tool })
    fold.unended.set(session, { session, reply, call, tool })
  },
  'agent.ended': (fold, { session }) => {
    fold.unended.delete(session)
  },
  'rules.added': (fold, { rules }) => {
    fold.change({ rules: withRules(fold.rules, rules) })
  },
  'turn.committed': (fold, committed) => {
    const { turn } = fold
    if (turn?.reply !== committed.reply) return
    const { isPaused } = committed
    const blocks = turn.blocks.toSorted((a, b) => (a.order ?? -1) - (b.order ?? -1))
    const assistants = blocks.map(({ message }) => message)
    const { container, stopReason } = turn.stopped ?? {}
    const isPauseTurn = stopReason === 'pause_turn'
    const results = resultsOf(turn)
    fold.transcript.add({ assistants, results, container, isPaused, isPauseTurn, isEnded: stopReason !== undefined })
    const before = assistants.at(-1)?.uuid
    if (before !== undefined) for (const { uuid } of turn.stopped?.reports ?? []) fold.reports.set(uuid, before)
    fold.turns++
    fold.usage.add({ calls: committed.calls })
    for (const id of committed.read ?? []) fold.background.delete(id)
    turn.committed = committed
  },
  'attempt.discarded': (fold, { reply, kept = [], usesFallback }) => {
    fold.closeQuestions((each) => each.reply === reply)
    for (const [id, { started }] of fold.background) if (started.reply === reply) fold.background.delete(id)
    fold.endAgents((each) => each.reply === reply)
    const before = fold.turn?.reply === reply ? fold.turn.contextBefore : undefined
    if (before !== undefined) fold.change({ context: before })
    if (usesFallback === true) fold.usesFallback = true
    const blocks = (fold.turn?.blocks ?? []).filter(({ message }) => kept.includes(message.uuid))
    fold.turn = kept.length === 0 ? undefined : { reply, blocks, calls: new Map() }
  },
  'background.started': (fold, started) => {
    // not every id that was given is in the log
    fold.backgroundCount = Math.max(fold.backgroundCount, Number(/\d+$/.exec(started.id)?.[0] ?? 0))
    const message = fold.turn?.blocks.find(({ message }) => hasCall(message, started.call))?.message
    const past = fold.callOf(started.reply, started.call)
    if (message !== undefined && past !== undefined) past.background = { started, message }
  },
  'background.finished': (fold, { id, messages, read }) => {
    const logged = fold.background.get(id)
    if (logged === undefined) return
    // in the order in which the calls ended
    fold.background.delete(id)
    fold.background.set(id, { ...logged, outcome: messages, read })
    fold.endAgents((agent) => isAgentOf(agent, logged))
  },
  'background.delivered': (fold, { id, messages }) => {
    if (fold.background.delete(id)) for (const message of messages) fold.transcript.push(message)
  },
  'usage.spent': (fold, { spent }) => {
    fold.usage.add(spent)
    if (spent.of !== undefined) fold.counted.set(spent.of.session, spent.of.reply)
    if (spent.closes !== undefined) fold.requests.delete(spent.closes)
    if (spent.opens !== undefined) fold.requests.set(spent.opens.number, spent.opens)
  },
  'run.suspended': (fold) => {
    fold.status = 'suspended'
  },
  'run.ended': (fold, ended) => {
    fold.transcript.letGo()
    fold.enter(ended.took)
    for (const message of ended.messages) fold.transcript.push(message)
    fold.status = 'idle'
    fold.turn = undefined
    fold.result = ended
    fold.questions.clear()
    const background = [...fold.background.values()]
    fold.endAgents((agent) => !background.some((logged) => isAgentOf(agent, logged)))
  },
}

const isAgentOf = ({ reply, call }: FoldedAgent, { started }: LoggedBackground): boolean =>
  started.reply === reply && started.call === call

const hasCall = ({ message }: AssistantMessage, call: string): boolean =>
  message.content.some(({ type, id }) => type === 'tool_use' && id === call)

/** A new run: what belonged to the one before does not count. */
function begin(fold: SessionFold): void {
  fold.status = 'running'
  if (fold.result === undefined) return
  fold.turns = 0
  fold.usesFallback = false
  fold.result = undefined
}

/** In the order of the calls, as a reader got them. */
const resultsOf = ({ blocks, calls }: OpenTurn): Message[] =>
  blocks
    .flatMap(({ message }) => message.message.content.filter(({ type }) => type === 'tool_use'))
    .flatMap(({ id }) => calls.get(String(id))?.completed ?? [])
    .filter(({ type }) => type !== 'progress' && type !== 'system')
