import type { CapturedContext } from '../../base/async-context.ts'
import { captureContext } from '../../base/async-context.ts'
import type { UserMessage } from '../../messages/message.ts'
import type { Query } from '../query.ts'
import type { QueryMessage, QueryResult } from '../query-message.ts'
import type { Span } from './session-view.ts'

/** A sent message, and its sender's view of the session. */
export interface Sent {
  readonly message: UserMessage
  readonly span: Span
  /** It does not wait for the turn that is open. */
  readonly isInterrupt: boolean
  /** The async context of the sender, in which a run that begins with this message runs. */
  readonly context: CapturedContext | undefined
}

export const newSent = (message: UserMessage, context = captureContext()): Sent => ({
  message,
  span: { from: undefined, to: undefined },
  isInterrupt: false,
  context,
})

/** One run of a session, driven to its end whether or not anybody reads it. */
export class SessionRun {
  readonly query: Query
  readonly #sent: Sent[]

  constructor(query: Query, sent: readonly Sent[]) {
    this.query = query
    this.#sent = [...sent]
  }

  /** False if the run is over or ending: the message then belongs to the next run. */
  take(sent: Sent, isInterrupt: boolean): boolean {
    if (!this.query.actor.getSnapshot().hasTag('listening')) return false
    this.#sent.push(sent)
    if (isInterrupt) this.query.interrupt(sent.message)
    else this.query.send(sent.message)
    return true
  }

  /** A turn that the log has begins again first; only then can it be interrupted. If it cannot, the message is for the next run. */
  steerBy(sent: readonly Sent[]): void {
    for (const each of sent) {
      if (each.isInterrupt && !this.#sent.includes(each) && !this.take(each, true)) this.#sent.push(each)
    }
  }

  sentBy(uuid: string): Sent | undefined {
    return this.#sent.find(({ message }) => message.uuid === uuid)
  }

  async drive(take: (message: QueryMessage) => void): Promise<QueryResult> {
    for (;;) {
      const step = await this.query.next()
      if (step.done === true) return step.value
      take(step.value)
    }
  }

  /** Splits sent messages into those that the model has seen and those that the next run answers, if there is one. */
  judge({ reason }: QueryResult, isFollowed: boolean): { over: Sent[]; unanswered: Sent[] } {
    const lastReply = this.query.transcript.findLastIndex(({ type }) => type === 'assistant')
    const later = new Set(this.query.transcript.slice(lastReply + 1).map(({ uuid }) => uuid))
    // after an abort or a model error, nothing continues; only a normal end leaves messages for another run
    const goesOn = reason === 'max_turns' || reason === 'hook_stopped'
    const isUnanswered = ({ message, span }: Sent): boolean =>
      (goesOn && later.has(message.uuid)) || (isFollowed && span.from === undefined)
    return { over: this.#sent.filter((sent) => !isUnanswered(sent)), unanswered: this.#sent.filter(isUnanswered) }
  }
}
