import { allowAllTools, createAttachmentMessage, type DiscardedCall, type MessageUpdate } from '../../src/index.ts'
import { chartValue, stateOf, type TestTurn, testTurn } from '../support/turn.ts'
import { HeldHost } from './held-host.ts'
import { messageInWords } from './message-in-words.ts'
import {
  type AbortWord,
  type Answer,
  type CallPlan,
  graceMs,
  type TurnPlan,
  type TurnView,
  toolName,
  unknownName,
} from './turn-view.ts'

interface Reader {
  readonly messages: AsyncGenerator<MessageUpdate, void, undefined>
  /** How many more messages it wants before it leaves. */
  wants: number
}

/** A call as the language model wrote it. */
interface Sent {
  readonly id: string
  readonly name: string
  readonly input: Record<string, unknown>
}

/** The real executor, driven and observed in the model's terms. */
export class ExecutorUnderTest {
  readonly #turn: TestTurn
  readonly #host = new HeldHost()
  /** Call ids by label; they differ where an id was minted. */
  readonly #ids = new Map<string, string>()
  readonly #sent = new Map<string, Sent>()
  readonly #progressCounts = new Map<string, number>()
  readonly #handedOver: string[] = []
  readonly #readers = new Set<Reader>()
  readonly #warnings: string[] = []
  #inProgress = new Set<string>()
  #interruptible = false

  constructor(plan: TurnPlan) {
    const abortController = new AbortController()
    if (plan.abortedBefore !== undefined) abortController.abort(plan.abortedBefore)
    this.#turn = testTurn(this.#host.tools, {
      maxConcurrency: plan.maxConcurrency,
      maxBufferedProgress: plan.maxBufferedProgress,
      abortGraceMs: graceMs,
      canUseTool: plan.hostAsks ? this.#host.canUseTool : allowAllTools,
      context: {
        abortController,
        setInProgressToolUseIDs: (update) => {
          this.#inProgress = update(this.#inProgress)
        },
        setHasInterruptibleToolInProgress: (value) => {
          this.#interruptible = value
        },
      },
    })
    this.#turn.executor.on('warning', ({ code, toolUseID = 'nobody', count }) => {
      if (code !== 'unexpected_chunk')
        this.#warnings.push(`${this.#labelOf(toolUseID)} ${code}${code === 'late' ? ` ${count}` : ''}`)
    })
  }

  add(label: string, plan: CallPlan): string {
    const name = plan.fault === 'unknown' ? unknownName : toolName(plan)
    const input = {
      command: label,
      ...(plan.asks ? { asks: true } : {}),
      ...(plan.keyed ? { keys: plan.keys, otherKeys: plan.otherKeys } : {}),
      ...(plan.fault === 'invalid' ? { size: 'wrong' } : {}),
    }
    this.#send(label, { id: label, name, input }, plan.hold)
    return stateOf(this.#turn.executor, label)
  }

  /** The same call again with reordered input, under its original id or its new one. */
  repeat(label: string, asReturned: boolean): void {
    const { id, name, input } = this.#sentAs(label)
    const sameInput = Object.fromEntries(Object.entries(input).reverse())
    const again = this.#turn.add(asReturned ? this.#idOf(label) : id, name, sameInput)
    if (again.id !== this.#idOf(label)) throw new Error(`${label} came back as ${again.id} when it was added again`)
  }

  /** Another call with the id of an earlier one. */
  clash(label: string, taken: string): void {
    const { name, input } = this.#sentAs(taken)
    this.#send(label, { id: this.#idOf(taken), name, input: { ...input, command: label } }, false)
  }

  release(label: string): boolean {
    return this.#turn.executor.release(this.#idOf(label))
  }

  finish(label: string, hasNote: boolean): void {
    const note = createAttachmentMessage({ type: 'note' }, this.#idOf(label))
    this.#run(label).finish({ data: `${label} done`, ...(hasNote ? { newMessages: [note] } : {}) })
  }

  fail(label: string): void {
    this.#run(label).fail(new Error(`${label} broke`))
  }

  progress(label: string): void {
    const count = (this.#progressCounts.get(label) ?? 0) + 1
    this.#progressCounts.set(label, count)
    this.#run(label).progress(count)
  }

  answer(label: string, answer: Answer): void {
    this.#host.answer(this.#idOf(label), answer)
  }

  abort(reason: string | undefined): void {
    this.#turn.executor.abort(reason)
  }

  abortByHost(reason: AbortWord): void {
    this.#turn.host.abort(reason)
  }

  discard(): DiscardedCall[] {
    return this.#turn.executor.discard().map((call) => ({ ...call, id: this.#labelOf(call.id) }))
  }

  passTime(ms: number): void {
    this.#turn.clock.increment(ms)
  }

  take(count: number): void {
    let taken = 0
    for (const update of this.#turn.executor.getCompletedResults()) {
      this.#record(update)
      taken += 1
      if (taken === count) break
    }
  }

  read(count: number): void {
    const reader: Reader = { messages: this.#turn.executor.getRemainingResults(), wants: count }
    this.#readers.add(reader)
    void this.#follow(reader)
  }

  /** Makes a sleeping reader leave; returns how many messages it still wanted. */
  leave(pick: number): number {
    const reader = [...this.#readers][pick % this.#readers.size]
    if (reader === undefined) return 0
    void reader.messages.return()
    return reader.wants
  }

  view(): TurnView {
    const { executor, host } = this.#turn
    const { gate, run } = chartValue(executor)
    return {
      gate,
      run,
      hostAbort: reasonInWords(host.signal),
      states: [...this.#ids].map(([label, id]) => `${label} ${stateOf(executor, id)}`),
      started: this.#host.started.map((id) => this.#labelOf(id)),
      asked: this.#host.asked.map((id) => this.#labelOf(id)),
      signals: [...this.#ids].flatMap(([label, id]) => {
        const signal = this.#host.signals.get(id)
        return signal === undefined ? [] : [`${label} ${reasonInWords(signal)}`]
      }),
      handedOver: this.#handedOver,
      wanted: [...this.#readers].reduce((sum, { wants }) => sum + wants, 0),
      inProgress: [...this.#ids].flatMap(([label, id]) => (this.#inProgress.has(id) ? [label] : [])),
      interruptible: this.#interruptible,
      warnings: [...this.#warnings].sort(),
    }
  }

  async #follow(reader: Reader): Promise<void> {
    for await (const update of reader.messages) {
      this.#record(update)
      reader.wants -= 1
      if (reader.wants === 0) break
    }
    this.#readers.delete(reader)
  }

  #record({ message }: MessageUpdate): void {
    this.#handedOver.push(messageInWords(message, (id) => this.#labelOf(id)))
  }

  #send(label: string, sent: Sent, hold: boolean): void {
    const { id } = this.#turn.add(sent.id, sent.name, sent.input, { hold })
    if ([...this.#ids.values()].includes(id)) throw new Error(`${label} got the id ${id}, which is taken`)
    this.#ids.set(label, id)
    this.#sent.set(label, sent)
  }

  #run = (label: string) => this.#host.run(this.#sentAs(label).name, this.#idOf(label))
  #idOf = (label: string): string => known(this.#ids.get(label), label)
  #sentAs = (label: string): Sent => known(this.#sent.get(label), label)
  #labelOf = (id: string): string => [...this.#ids].find(([, each]) => each === id)?.[0] ?? id
}

function known<Value>(value: Value | undefined, label: string): Value {
  if (value === undefined) throw new Error(`nothing is known of ${label}`)
  return value
}

function reasonInWords({ aborted, reason }: AbortSignal): string {
  if (!aborted) return 'none'
  return reason instanceof DOMException ? 'no reason' : String(reason)
}
