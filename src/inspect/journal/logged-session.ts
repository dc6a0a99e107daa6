import { openTurnOf } from '../../durable/open-start.ts'
import type { JournalRecord } from '../../journal/journal.ts'
import type { LoggedCall as CallLog, OpenTurn } from '../../journal/open-turn.ts'
import type { Records, RecordType } from '../../journal/records.ts'
import type { Message, ToolUseBlock } from '../../messages/message.ts'
import { limitWords, recordTalk } from '../bridge/conversation-talk.ts'
import type { Recovered } from '../frames/frame.ts'
import type { Recorder } from '../recorder/recorder.ts'
import { type CallFuture, LoggedCall } from './logged-call.ts'
import { LoggedQuery } from './logged-query.ts'
import { LoggedReply } from './logged-reply.ts'

interface Watched {
  readonly reply: LoggedReply
  readonly number: number
  leave(): void
}

/** Where the records of a call stand that one part of the log has. */
interface Span extends CallFuture {
  /** The records of its block, of its start and of its end. */
  block: number
  start: number | undefined
  end: number
}

/**
 * One log, driven through the charts record by record. Each reply is an executor of its own, as in a live run; a reply
 * that goes on after a crash or a suspension is another one.
 */
export class LoggedSession {
  readonly #recorder: Recorder
  readonly #parentToolUseID: string | undefined
  readonly #parts: ReadonlyMap<string, Span>[]
  readonly #toSay: Message[] = []
  readonly #notes: string[] = []
  readonly #owners: string[] = []
  #id = ''
  #part = 0
  #turn: OpenTurn | undefined
  /** Those that are whole. */
  #turns = 0
  #query: LoggedQuery | undefined
  #watched: Watched | undefined
  /** The process that worked on the open turn does so no more. */
  #isLeft = false
  #status: 'idle' | 'running' | 'suspended' = 'idle'
  #recovered: Recovered | undefined

  constructor(records: readonly JournalRecord[], recorder: Recorder, parentToolUseID?: string) {
    this.#recorder = recorder
    this.#parentToolUseID = parentToolUseID
    this.#parts = partsOf(records)
  }

  take(record: JournalRecord): void {
    const { t } = record
    if (endsPart(record)) this.#part++
    const step = steps[t as RecordType] as ((session: LoggedSession, fields: unknown) => void) | undefined
    step?.(this, record)
  }

  /** Everything that no reply came to say. */
  end(): void {
    if (this.#watched === undefined || this.#toSay.length > 0) this.#watch()
    this.#say()
    this.#watched?.leave()
  }

  note(text: string): void {
    this.#notes.push(text)
  }

  created(id: string, messages: readonly Message[], open: Parameters<typeof openTurnOf>[0] | undefined): void {
    this.#id = id
    if (messages.length > 0) this.note(`The session began with a conversation of ${messages.length} messages.`)
    if (open === undefined) return
    this.#turn = openTurnOf(open)
    this.#status = 'suspended'
    this.#isLeft = true
  }

  opened(owner: string): void {
    const from = this.#owners.at(-1)
    this.#owners.push(owner)
    if (from === undefined) return
    this.#isLeft = true
    if (this.#query?.isOver === false) this.#query = undefined
    if (this.#status === 'idle') return this.note(`Opened by ${owner}.`)
    this.#recovered = { session: this.#id, from, by: owner }
    const how = this.#status === 'running' ? 'stopped in the middle of a run' : 'suspended it'
    this.note(`Recovered by ${owner}, from the log of session ${this.#id}. ${from} ${how}.`)
  }

  sent(message: Message): void {
    this.#status = 'running'
    this.#toSay.push(message)
  }

  replyStarted(reply: string): void {
    this.#turn = { reply, blocks: [], calls: new Map() }
    this.#watch()
    this.#query?.ask()
  }

  block(block: Records['reply.block']): void {
    const turn = this.#turn
    if (turn?.reply !== block.reply) return
    turn.blocks.push(block)
    const watched = this.#goOn()
    recordTalk(this.#recorder, watched.number, block.message)
    for (const call of callsIn(block)) {
      turn.calls.set(String(call.id), {})
      watched.reply.add(this.#callOf(turn, call))
    }
  }

  stopped(stopped: Records['reply.stopped']): void {
    if (this.#turn?.reply === stopped.reply) this.#turn.stopped = stopped
    const { number } = this.#goOn()
    for (const report of stopped.reports) recordTalk(this.#recorder, number, report)
    this.#query?.stopped(stopped)
  }

  asked(asked: Records['permission.asked']): void {
    this.#goOn().reply.asked(asked)
    this.#note(asked, { asked })
  }

  answered(answered: Records['permission.answered']): void {
    const { answer, by, call } = answered
    this.note(`${by ?? 'Somebody'} answered the question of ${call}: ${answer.behavior}.`)
    this.#note(answered, { answer })
    // while nobody works on the turn, nothing follows from it
    if (!this.#isLeft) this.#goOn().reply.answered(answered)
    else this.#watched?.reply.close(call)
    this.#say()
  }

  started(started: Records['call.started']): void {
    this.#goOn().reply.started(started)
    this.#note(started, { started })
  }

  completed({ reply, call, messages, ending = { by: 'result' } }: Records['call.completed']): void {
    this.#goOn().reply.completed(call, messages, ending)
    this.#note({ reply, call }, { completed: messages })
  }

  committed(reply: string): void {
    if (this.#turn?.reply !== reply) return
    // all its results may be from the log
    this.#goOn()
    this.#turn = undefined
    this.#turns++
  }

  discarded(discarded: Records['attempt.discarded']): void {
    const { reply, number } = this.#goOn()
    for (const report of discarded.reports) recordTalk(this.#recorder, number, report)
    reply.discard()
    this.#query?.discarded(discarded)
    this.#turn = undefined
  }

  suspended(): void {
    this.#watched?.reply.suspend()
    this.#query?.suspended()
    this.#status = 'suspended'
    this.#isLeft = true
  }

  ended(ended: Records['run.ended']): void {
    const { reason, error, limit } = ended
    if (this.#isLeft && this.#status !== 'idle') this.#goOn()
    this.#query?.ended(ended)
    if (limit !== undefined) this.note(limitWords(limit))
    else if (reason !== 'completed') this.note(`The run ended: ${reason}${error === undefined ? '' : `, ${error}`}.`)
    this.#say()
    this.#turn = undefined
    this.#status = 'idle'
  }

  /** Reports a call of the open turn to later lives. */
  #note({ reply, call }: { readonly reply: string; readonly call: string }, more: CallLog): void {
    const known = this.#turn?.reply === reply ? this.#turn.calls.get(call) : undefined
    if (known !== undefined) Object.assign(known, more)
  }

  /** The executor of the open turn. One that somebody else began is left, and its calls go on in another. */
  #goOn(): Watched {
    if (this.#watched !== undefined && !this.#isLeft) return this.#watched
    const turn = this.#turn
    const watched = this.#watch(turn !== undefined, true)
    for (const call of turn?.blocks.flatMap(callsIn) ?? [])
      if (turn !== undefined) watched.reply.add(this.#callOf(turn, call))
    this.#query?.goOn()
    return watched
  }

  /** @param isContinued no reply begins: it is the rest of a turn, or only the end of the run is left */
  #watch(isRecovered = false, isContinued = false): Watched {
    this.#watched?.leave()
    if (this.#query?.isOver !== false) this.#query = new LoggedQuery(isRecovered)
    const reply = new LoggedReply()
    const recovered = this.#recovered
    const isTurn = this.#turn !== undefined || isContinued
    const number = Math.max(1, this.#turns + (this.#turn === undefined ? 0 : 1))
    const { run, leave } = this.#recorder.watch(reply.inspectable, {
      title: isTurn ? `turn ${number}${isContinued ? ', continued' : ''}` : 'no reply',
      queryActor: this.#query.actor,
      parentToolUseID: this.#parentToolUseID,
      ...(recovered !== undefined && { recovered }),
      isContinued,
    })
    this.#recovered = undefined
    this.#isLeft = false
    this.#status = 'running'
    this.#watched = { reply, number: run, leave }
    this.#say()
    return this.#watched
  }

  #say(): void {
    if (this.#watched === undefined) return
    const { number } = this.#watched
    for (const text of this.#notes.splice(0)) this.#recorder.say(number, 'host', text)
    for (const message of this.#toSay.splice(0)) recordTalk(this.#recorder, number, message as never)
  }

  #callOf({ reply, calls }: OpenTurn, block: ToolUseBlock): LoggedCall {
    const spans = this.#parts[this.#part] ?? new Map()
    const none = { isAsked: false, isStarted: false, ending: undefined, isCompleted: false }
    const future = spans.get(`${reply} ${block.id}`) ?? none
    return new LoggedCall(block, calls.get(String(block.id)) ?? {}, future, !isAlone(future, reply, spans))
  }
}

type Steps = { [Type in RecordType]?: (session: LoggedSession, fields: Records[Type]) => void }

const steps: Steps & { [type: string]: unknown } = {
  'session.created': (
    session: LoggedSession,
    { id, messages = [], open }: { id: string; messages?: []; open?: never },
  ) => session.created(id, messages, open),
  'session.opened': (session: LoggedSession, { owner }: { owner: string }) => session.opened(String(owner)),
  'message.sent': (session, { message }) => session.sent(message),
  'reply.started': (session, { reply }) => session.replyStarted(reply),
  'reply.block': (session, block) => session.block(block),
  'reply.stopped': (session, stopped) => session.stopped(stopped),
  'permission.asked': (session, asked) => session.asked(asked),
  'permission.answered': (session, answered) => session.answered(answered),
  'call.started': (session, started) => session.started(started),
  'call.completed': (session, completed) => session.completed(completed),
  'turn.committed': (session, { reply }) => session.committed(reply),
  'attempt.discarded': (session, discarded) => session.discarded(discarded),
  'background.finished': (session, { id }) => session.note(`Background call ${id} has finished.`),
  'run.suspended': (session) => session.suspended(),
  'run.ended': (session, ended) => session.ended(ended),
}

/** Anybody may have edited the log. */
function callsIn({ message }: Pick<Records['reply.block'], 'message'>): ToolUseBlock[] {
  const content: unknown = message?.message?.content
  if (!Array.isArray(content)) return []
  return (content as readonly ToolUseBlock[]).filter((block) => block?.type === 'tool_use')
}

const endsPart = ({ t, n }: JournalRecord): boolean => (t === 'session.opened' && n > 1) || t === 'run.suspended'

/** For each part of the log that one process wrote without a pause: what it has of each call. */
function partsOf(records: readonly JournalRecord[]): Map<string, Span>[] {
  const parts: Map<string, Span>[] = [new Map()]
  for (const record of records) {
    if (endsPart(record)) parts.push(new Map())
    const spans = parts.at(-1) as Map<string, Span>
    const { t, n, reply, call } = record
    const span = (id: unknown): Span => {
      const key = `${reply} ${id}`
      const known = spans.get(key)
      if (known !== undefined) return known
      const made = { isAsked: false, isStarted: false, ending: undefined, isCompleted: false }
      const whole: Span = { ...made, block: n, start: undefined, end: Number.POSITIVE_INFINITY }
      spans.set(key, whole)
      return whole
    }
    if (t === 'reply.block') for (const { id } of callsIn(record as unknown as Records['reply.block'])) span(id)
    if (t === 'permission.asked') span(call).isAsked = true
    if (t === 'call.started') Object.assign(span(call), { isStarted: true, start: n })
    if (t === 'call.completed') {
      const { ending } = record as unknown as Records['call.completed']
      Object.assign(span(call), { isCompleted: true, end: n, ending: ending ?? { by: 'result' } })
    }
  }
  return parts
}

/** The log does not have the lane. A call with effects that ran beside no other is shown alone. */
function isAlone(of: Partial<Span>, reply: string, spans: ReadonlyMap<string, Span>): boolean {
  const { start, end = 0, block = 0 } = of
  if (start === undefined) return false
  for (const [key, other] of spans) {
    if (other === of || !key.startsWith(`${reply} `)) continue
    const isBeside = other.block <= block ? other.end > start : (other.start ?? other.end) < end
    if (isBeside) return false
  }
  return true
}
