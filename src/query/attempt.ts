import type { DiscardedCall } from '../executor/calls-so-far.ts'
import type { MessageUpdate } from '../executor/delivery.ts'
import type { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'
import { type OpenTurn, pastOf } from '../journal/open-turn.ts'
import type { Records, SessionRecord } from '../journal/records.ts'
import type { RunLog } from '../journal/run-log.ts'
import { createAssistantMessage } from '../messages/create-messages.ts'
import type { IdsAndTime } from '../messages/ids-and-time.ts'
import type { AssistantMessage, ContentBlock, Message, ToolUseBlock } from '../messages/message.ts'
import { sendableInput, sendableName } from '../messages/sendable-turns.ts'
import { survivesHandover } from '../messages/server-tools.ts'
import type { StopReason } from '../models/model.ts'
import { resultTexts } from '../results/result-texts.ts'
import type { AnyTool } from '../tool/tool.ts'
import { HeldCalls, type StartWhen } from './held-calls.ts'
import type { FinishedBlock, ReplyPart } from './reply-assembler.ts'
import { ReplyOrder } from './reply-order.ts'
import { ReplyResults } from './reply-results.ts'

export interface AttemptHost {
  readonly idsAndTime: IdsAndTime
  /** All calls wait for the end of the reply. */
  readonly isBatch: boolean
  findTool(name: string): AnyTool | undefined
  /** Whether a call of an earlier turn has this id. */
  isTaken(id: string): boolean
  /** Whether a reply of an earlier turn has this id. */
  isOldReply(id: string): boolean
  emit(message: Message): void
  /** A message of a call is ready. A returned promise pauses the reading. */
  onUpdate(update: MessageUpdate): Promise<void> | undefined
  /** The reply is over, and all its calls are answered. */
  onDrained(attempt: Attempt): void
  /** How often this call was made in a row with an equal result, if that is too often. */
  repeatsOf(name: string, input: unknown): number | undefined
  /** The log of the session; undefined if the query is not recorded. */
  readonly log: RunLog | undefined
  /** The uuids of the messages that entered the conversation since the last reply; each is returned once. */
  takeEntered(): string[]
  /** Runs a function in the async context in which the query was created. */
  inContext<Value>(job: () => Value): Value
}

/** Stop reasons of a reply that was cut off: its last calls may be incomplete. */
const cutReasons = new Set<StopReason>(['max_tokens', 'refusal', 'model_context_window_exceeded'])

/** One attempt at one reply: the model's output, its calls, and their results. */
export class Attempt {
  readonly executor: StreamingToolExecutor
  stopReason: StopReason | undefined
  stopDetails: unknown
  /** The container in which the service ran code for this reply. */
  container: unknown
  /** The stream failed after a call had effects: the reply counts as far as it came. */
  isCutOff = false
  /** Not a reply of this query: open calls of the given conversation. */
  isResumed = false
  /** Background calls whose outcomes the results from the log tell. */
  toldBefore: readonly string[] = []
  readonly #host: AttemptHost
  readonly #results: ReplyResults
  readonly #calls = new Set<string>()
  readonly #renamed = new Map<string, string>()
  readonly #held: HeldCalls
  /** The log has the beginning of the reply. */
  #isRecorded = false
  readonly #order = new ReplyOrder()
  /** Every call so far has been a repetition. */
  #isInRow = true
  /** Calls that may have been refused, because they were repetitions. */
  #suspects: Set<string> | undefined
  /** A generated id until the service sends one; all parts of a reply share it. */
  reply: { readonly id: string; readonly model?: string }

  /** @param before the attempt whose reply another model continues: its text stays, its unfinished parts do not */
  constructor(host: AttemptHost, executor: StreamingToolExecutor, before?: Attempt) {
    this.#host = host
    this.executor = executor
    this.#held = new HeldCalls(executor, host)
    this.#results = new ReplyResults(executor, {
      onUpdate: (update) => host.onUpdate(update),
      onDrained: () => host.onDrained(this),
    })
    this.reply = before?.reply ?? { id: `msg_${host.idsAndTime.uuid()}` }
    if (before === undefined) return
    this.assistants.push(...before.handedOver)
    this.#isRecorded = this.assistants.length > 0
  }

  get assistants(): AssistantMessage[] {
    return this.#order.assistants
  }

  get results(): Message[] {
    return this.#results.received
  }

  get isHookStopped(): boolean {
    return this.#results.isHookStopped
  }

  get hasCalls(): boolean {
    return this.#calls.size > 0
  }

  hasCall(id: string): boolean {
    return this.#calls.has(id)
  }

  /** It was a repetition, and did not run. */
  isRefused(id: string): boolean {
    return (
      this.#suspects?.has(id) === true && !this.executor.callsSoFar().some((call) => call.id === id && call.started)
    )
  }

  /** The model finished its reply. */
  get isWhole(): boolean {
    return this.stopReason !== undefined && !cutReasons.has(this.stopReason)
  }

  /** The reply has a stop reason. A service may not have stored a reply without one. */
  get isEnded(): boolean {
    return this.stopReason !== undefined
  }

  /** The service itself asked to continue the reply. */
  get isPauseTurn(): boolean {
    return this.stopReason === 'pause_turn'
  }

  /** The service may continue with its own calls: no user text may come between. */
  get isPaused(): boolean {
    return this.isPauseTurn || (this.isWhole && this.hasCalls)
  }

  /** The part of the reply that stays if its model declines and another one continues. */
  get handedOver(): AssistantMessage[] {
    const said = this.assistants.flatMap(({ message }) => message.content)
    return this.assistants.filter(({ message }) => message.content.every((block) => survivesHandover(block, said)))
  }

  /** It has blocks that are removed if the model declines. */
  get hasDeclinable(): boolean {
    return this.handedOver.length < this.assistants.length
  }

  /** The reply requested calls, but was cut off before any of them could run. */
  get isFruitless(): boolean {
    if (this.stopReason === undefined || this.isWhole) return false
    return this.hasCalls && !this.executor.callsSoFar().some(({ started }) => started)
  }

  take(part: ReplyPart): void {
    if (part.type === 'started') this.#begin(part.id, part.model)
    else if (part.type === 'nextBlock') this.#held.release('nextBlock')
    else if (part.type === 'stopped') {
      // a reply that was cut off stays so, whatever else is said about its end
      if (this.stopReason === undefined || this.isWhole) this.stopReason = part.stopReason
      this.stopDetails = part.stopDetails ?? this.stopDetails
      if (this.isWhole) this.#held.release('nextBlock')
    } else if (part.type === 'block') this.#takeBlock(part)
  }

  /** Ends the reply. Held calls start now, or never. */
  close(isWhole: boolean, partial: readonly FinishedBlock[]): void {
    for (const each of partial) this.#say(each)
    if (isWhole) return this.#held.release('nextBlock', 'turnEnded')
    this.#held.withdraw(cutText(this.stopReason))
  }

  /** The stream failed, and the reply counts as far as it came: calls that have not begun never run. */
  cut(partial: readonly FinishedBlock[]): void {
    this.isCutOff = true
    for (const each of partial) this.#say(each)
    this.#held.clear()
    this.executor.withdrawRest(cutText(undefined))
  }

  drain(): void {
    this.#results.drain()
  }

  /** Discards the attempt, except what the next one keeps. Returns the uuids of the discarded messages, and the calls that had run. */
  discard(next?: Attempt): { discarded: string[]; calls: DiscardedCall[] } {
    this.#results.discard()
    const calls = this.executor.discard()
    const lost = [...this.assistants, ...this.results].filter((message) => !next?.assistants.includes(message as never))
    return { discarded: lost.map(({ uuid }) => uuid), calls }
  }

  /** Follows `discard`, when the host has been told. */
  recordDiscard(
    fields: Pick<Records['attempt.discarded'], 'calls' | 'reports' | 'usesFallback'>,
    next?: Attempt,
  ): void {
    if (!this.#isRecorded && fields.reports.length === 0) return
    const kept = next?.assistants.map(({ uuid }) => uuid)
    this.#record({ t: 'attempt.discarded', reply: this.reply.id, ...fields, ...(kept && { kept }) })
  }

  /** Runs calls of the conversation's last reply; their blocks are already in the transcript. */
  resume(calls: readonly { readonly block: ToolUseBlock; readonly message: AssistantMessage }[]): void {
    this.isResumed = true
    for (const { block, message } of calls) {
      const { id } = this.#host.inContext(() => this.executor.addTool({ ...block }, message))
      this.#calls.add(id)
    }
    void this.#results.read()
  }

  /** Rebuilds the recorded reply. Its calls continue from their recorded state. */
  recover(turn: OpenTurn, isCutOff: boolean): void {
    const { stopped } = turn
    this.#takeOver(turn)
    for (const block of turn.blocks) {
      this.#held.release('nextBlock')
      this.#recoverBlock(block, turn, isCutOff)
    }
    this.toldBefore = [...turn.calls.values()].flatMap(({ read = [] }) => read)
    if (isCutOff) this.cut([])
    else this.close(stopped?.isWhole === true, [])
    void this.#results.read()
  }

  /** Restores the data that decides how the query continues after a finished turn. */
  restore(turn: OpenTurn): void {
    this.#takeOver(turn)
    this.isResumed = true
    this.#results.isHookStopped = turn.committed?.isHookStopped === true
    for (const id of turn.calls.keys()) this.#calls.add(id)
  }

  recordStop(stop: Pick<Records['reply.stopped'], 'isWhole' | 'isCutOff' | 'reports' | 'usesFallback'>): void {
    const { stopReason, stopDetails, container } = this
    this.#record({ t: 'reply.stopped', reply: this.reply.id, ...stop, stopReason, stopDetails, container })
  }

  /** The session is suspended: stops recording and tells bodies to stop. Resolves when no body runs any more. */
  async halt(): Promise<void> {
    this.#results.discard()
    this.executor.discard('suspend')
    await this.executor.whenIdle()
  }

  #takeOver({ reply, stopped, blocks }: OpenTurn): void {
    this.#isRecorded = true
    const model = blocks[0]?.message.message.model
    this.reply = { id: reply, ...(typeof model === 'string' && { model }) }
    this.stopReason = stopped?.stopReason as StopReason | undefined
    this.stopDetails = stopped?.stopDetails
    this.container = stopped?.container
  }

  #recoverBlock(recorded: Records['reply.block'], turn: OpenTurn, isCutOff: boolean): void {
    const { message, order, problem, isBare = false } = recorded
    if (order === undefined) this.assistants.push(message)
    else this.#order.place(message, order)
    this.#host.emit(message)
    const block = message.message.content.find(({ type }) => type === 'tool_use') as ToolUseBlock | undefined
    if (block === undefined) return
    const past = pastOf(turn.calls.get(block.id) ?? {})
    const isNew = past.asked === undefined && past.started === undefined && past.completed === undefined
    let startWhen: StartWhen = 'closed'
    const add = () =>
      this.executor.addTool({ ...block }, message, {
        hold: (isSafe) => {
          if (isCutOff) startWhen = past.started === undefined ? 'turnEnded' : 'closed'
          else if (isNew) startWhen = this.#held.startWhen(block.name, isSafe, isBare)
          return startWhen !== 'closed'
        },
        error: problem && resultTexts.unreadableArguments(problem).toolUseResult,
        past,
      })
    const { id } = this.#host.inContext(add)
    this.#calls.add(id)
    this.#held.add(id, startWhen)
  }

  #record(record: SessionRecord): void {
    const { log } = this.#host
    if (log === undefined) return
    if (!this.#isRecorded) log.append({ t: 'reply.started', reply: this.reply.id, took: this.#host.takeEntered() })
    this.#isRecorded = true
    log.append(record)
  }

  /** Some services give every reply the same id, but the id separates one reply from the next. */
  #begin(id: string, model: string | undefined): void {
    const own = id === '' || this.assistants.length > 0 || this.#host.isOldReply(id) ? this.reply.id : id
    this.reply = { id: own, ...(model !== undefined && { model }) }
  }

  #takeBlock(part: FinishedBlock): void {
    const { block } = part
    if (block.type === 'tool_use') return this.#announce(block as ToolUseBlock, part)
    // the API rejects empty text
    if (block.type === 'text' && (typeof block.text !== 'string' || block.text === '')) return
    this.#say(part)
  }

  #say({ block, order }: FinishedBlock): void {
    const message = this.#messageOf(block)
    this.#record({ t: 'reply.block', reply: this.reply.id, message, order })
    this.#order.place(message, order)
    this.#host.emit(message)
  }

  arrangeResults(): void {
    this.#order.arrange(this.results)
  }

  /** A call is added to the executor when its block ends, and starts as early as its tool allows. */
  #announce(block: ToolUseBlock, { problem, order, isBare = false }: FinishedBlock): void {
    const shown = { ...block, name: sendableName(block.name), input: sendableInput(block.input) }
    const message = this.#messageOf(shown)
    let startWhen: StartWhen = 'closed'
    const repeats = this.#isInRow ? this.#host.repeatsOf(block.name, block.input) : undefined
    this.#isInRow = repeats !== undefined
    const given = this.#host.isTaken(block.id) ? { ...block, id: this.#renamed.get(block.id) ?? '' } : block
    const add = () =>
      this.executor.addTool({ ...given }, message, {
        hold: (isSafe) => {
          startWhen = this.#held.startWhen(block.name, isSafe, isBare)
          return startWhen !== 'closed'
        },
        error: problem && resultTexts.unreadableArguments(problem).toolUseResult,
        repeats,
        onID: (id) => {
          shown.id = id
          if (repeats !== undefined) this.#suspects = new Set(this.#suspects).add(id)
          this.#record({ t: 'reply.block', reply: this.reply.id, message, order, problem, ...(isBare && { isBare }) })
        },
      })
    const { id } = this.#host.inContext(add)
    if (given.id === '') this.#renamed.set(block.id, id)
    // a provider may send the same block twice; it is one call
    if (this.#calls.has(id)) return
    this.#calls.add(id)
    this.#held.add(id, startWhen)
    this.#order.place(message, order)
    this.#host.emit(message)
    void this.#results.read()
  }

  #messageOf(block: ContentBlock): AssistantMessage {
    return createAssistantMessage([block], this.reply, this.#host.idsAndTime)
  }
}

const cutText = (stopReason: StopReason | undefined): string =>
  `the reply that asked for it was cut off${stopReason === undefined ? '' : ` (${stopReason})`}. If you still need it, make the call again${stopReason === 'max_tokens' ? ', with a shorter reply or a shorter input, such as in several calls' : ''}.`
