import type { AnyActorRef } from 'xstate'
import { type CallEvent, type CallRecord, callChart, ExecutorSchedule, executorChart } from '../../../machines/index.ts'
import { chooseEngine } from '../../chart-engine/choose-engine.ts'
import type { RecordedEnding, Records } from '../../journal/records.ts'
import type { Message } from '../../messages/message.ts'
import type { PermissionAnswer } from '../../tool/permission.ts'
import type { AskedQuestion } from '../recorder/consent-frames.ts'
import type { Inspectable } from '../recorder/run-watch.ts'
import type { LoggedCall } from './logged-call.ts'

const nothing = (): void => undefined
/** A call is never further than this from its end. */
const mostSteps = 12

/** The executor of one reply in one life of the session: the production charts, driven by records. */
export class LoggedReply {
  readonly #engine = chooseEngine()
  readonly #schedule: ExecutorSchedule
  readonly #actor
  readonly #calls = new Map<string, LoggedCall>()
  readonly #questions = new Map<string, AskedQuestion>()
  readonly #onMessage = new Set<(taken: { message: Message; toolUseID: string }) => void>()
  readonly #handed: LoggedCall[] = []

  constructor() {
    this.#schedule = new ExecutorSchedule(Number.POSITIVE_INFINITY, {
      createCall: (call: CallRecord, executor: AnyActorRef) =>
        this.#engine.createChild(callChart(), executor, 'call', { call, executor }),
      handOver: (call: CallRecord) => {
        const logged = call as LoggedCall
        logged.unread--
        this.#handed.push(logged)
      },
      received: nothing,
      started: nothing,
      requeued: nothing,
      completed: nothing,
      completedInOrder: nothing,
      yielded: nothing,
      discarded: nothing,
    })
    this.#actor = this.#engine.createRoot(executorChart(), { id: 'executor', input: { run: this.#schedule } })
    this.#actor.start()
  }

  /** For the recorder. */
  get inspectable(): Inspectable {
    const on = (type: string, listener: never): (() => void) => {
      if (type !== 'message') return nothing
      this.#onMessage.add(listener)
      return () => void this.#onMessage.delete(listener)
    }
    return { actor: this.#actor, on, openQuestions: () => [...this.#questions.values()] } as unknown as Inspectable
  }

  add(call: LoggedCall): void {
    // a second call with the same id is answered by the first
    if (this.#calls.has(call.id)) return
    this.#calls.set(call.id, call)
    this.#actor.send({ type: 'call.add', call })
    const { asked } = call.past
    if (call.needsAsking && asked !== undefined) this.#showQuestion(call, asked)
    this.#read()
  }

  asked(record: Records['permission.asked']): void {
    const call = this.#started(record.call)
    if (call === undefined) return
    if (call.path.at(-1) === 'deciding') this.#send(call, { type: 'permission.undecided' })
    this.#showQuestion(call, record)
  }

  answered({ call: id, answer }: { readonly call: string; readonly answer: PermissionAnswer }): void {
    this.#questions.delete(id)
    const call = this.#started(id)
    if (call === undefined || !call.path.includes('permission')) return
    call.decision = { behavior: answer.behavior, source: { by: 'host' } }
    const isAllowed = answer.behavior === 'allow'
    this.#send(
      call,
      isAllowed
        ? { type: 'permission.allowed', change: undefined }
        : { type: 'permission.denied', stopsTurn: answer.interrupt === true },
    )
  }

  started({ call: id, decision }: Records['call.started']): void {
    const call = this.#started(id)
    if (call === undefined) return
    if (decision !== undefined) call.decision = decision
    if (call.path.includes('permission')) this.#send(call, { type: 'permission.allowed', change: undefined })
    if (call.path.at(-1) === 'journaling') this.#send(call, { type: 'start.journaled' })
  }

  completed(id: string, messages: readonly Message[], ending: RecordedEnding): void {
    const call = this.#calls.get(id)
    if (call === undefined || call.isRecorded) return
    this.#questions.delete(id)
    for (let step = 0; step < mostSteps; step++) {
      const event = call.nextTo(ending)
      if (event === undefined) break
      this.#send(call, event)
    }
    call.keep(messages)
    call.isDurable = true
    this.#send(call, { type: 'result.recorded' })
    this.#read()
  }

  /** Its question has an answer. */
  close(id: string): void {
    this.#questions.delete(id)
  }

  /** Open questions wait for somebody who answers later. */
  suspend(): void {
    for (const call of this.#calls.values())
      if (call.path.at(-1) === 'asking') this.#send(call, { type: 'permission.deferred' })
  }

  discard(): void {
    this.#questions.clear()
    this.#actor.send({ type: 'abort.streamingFallback' })
  }

  #showQuestion(call: LoggedCall, { shown }: Records['permission.asked']): void {
    this.#send(call, { type: 'permission.pending' })
    const { toolName, input, because, message } = shown
    this.#questions.set(call.id, {
      toolUseID: call.id,
      toolName,
      input,
      because,
      ...(message !== undefined && { message }),
    })
  }

  /** The log is right: a call that it says has begun is not queued. */
  #started(id: string): LoggedCall | undefined {
    const call = this.#calls.get(id)
    if (call?.stage === 'queued' && !call.isAnswered) this.#send(call, { type: 'call.start' })
    return call
  }

  #send({ ref }: LoggedCall, event: CallEvent): void {
    if (ref?.getSnapshot().status === 'active') this.#engine.send(ref, event)
  }

  #read(): void {
    while (this.#schedule.isReady) {
      this.#actor.send({ type: 'results.take' })
      const handed = this.#handed.splice(0)
      if (handed.length === 0) return
      for (const call of handed) {
        const message = call.messages[call.taken++]
        if (message !== undefined) for (const tell of this.#onMessage) tell({ message, toolUseID: call.id })
      }
    }
  }
}
