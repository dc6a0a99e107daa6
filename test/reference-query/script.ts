import type { Entry, SentCall } from './entry.ts'
import type { HeldStream } from './held-stream.ts'
import type { QueryUnderTest } from './query-under-test.ts'
import type { Move, QueryPlan } from './story.ts'

/** Turns moves into possible events, based only on what is visible from outside. */
export class Script {
  readonly #plan: QueryPlan
  readonly #query: QueryUnderTest
  readonly #ids: Set<string>
  readonly #sent: { call: SentCall; stream: HeldStream }[] = []
  #calls = 0
  #texts = 0
  #replies = 0

  constructor(plan: QueryPlan, query: QueryUnderTest, ids: Set<string>) {
    this.#plan = plan
    this.#query = query
    this.#ids = ids
  }

  *entriesFor(move: Move): Generator<Entry> {
    const { bodies, questions } = this.#query.bodies
    const unsettled = indices(bodies, ({ settledAt }) => settledAt === undefined)
    if (move.do === 'abort') yield { is: 'aborts', reason: move.reason }
    else if (move.do === 'host') yield { is: 'host aborts', reason: move.reason }
    else if (move.do === 'interrupt') yield { is: 'interrupts' }
    else if (move.do === 'leave') yield { is: 'leaves' }
    else if (move.do === 'steer') yield { is: 'steers', text: `t${++this.#texts}` }
    else if (move.do === 'send') yield { is: 'sends', text: `t${++this.#texts}` }
    else if (move.do === 'pass') for (let tick = 0; tick < move.ticks; tick++) yield { is: 'tick' }
    else if (move.do === 'prepare') {
      if (this.#query.isPreparing) yield { is: 'prepared' }
    } else if (move.do === 'answer') {
      const question = picked(
        indices(questions, ({ isAnswered }) => !isAnswered),
        move.pick,
      )
      if (question !== undefined) yield { is: 'answers', question, answer: move.answer }
    } else if (move.do === 'finish') {
      const body = picked(unsettled, move.pick)
      if (body !== undefined) yield { is: 'body finishes', body, modifies: move.modifies }
    } else if (move.do === 'fail' || move.do === 'progress') {
      const body = picked(unsettled, move.pick)
      if (body !== undefined) yield { is: move.do === 'fail' ? 'body fails' : 'body reports', body }
    } else if (this.#query.stream !== undefined) yield* this.#said(move, this.#query.stream)
  }

  /** The next entries toward the end of the query. */
  *nextToEnd(): Generator<Entry> {
    const { stream, bodies, isPreparing } = this.#query
    const [question] = indices(bodies.questions, ({ isAnswered }) => !isAnswered)
    const [body] = indices(bodies.bodies, bodies.isLive)
    if (question !== undefined) yield { is: 'answers', question, answer: 'allow' }
    // every other body that was told to stop runs into its grace period
    else if (body !== undefined && body % 2 === 1 && bodies.bodies[body]?.toldAt !== undefined) yield { is: 'tick' }
    else if (body !== undefined) yield { is: 'body finishes', body, modifies: false }
    else if (isPreparing) yield { is: 'prepared' }
    else if (stream === undefined) yield { is: 'tick' }
    else {
      yield* this.#opening(stream)
      yield { is: 'stops', reason: 'end_turn' }
      yield { is: 'stream ends' }
    }
  }

  *#said(move: Move, stream: HeldStream): Generator<Entry> {
    yield* this.#opening(stream)
    if (move.do === 'call') {
      const index = stream.nextIndex++
      yield { is: 'opens call', index, call: this.#callFor(move, stream) }
      yield* this.#close(stream, index, move.leaveOpen)
    } else if (move.do === 'text' || move.do === 'think') {
      const index = stream.nextIndex++
      yield { is: 'opens text', index, text: `t${++this.#texts}`, isThinking: move.do === 'think' }
      yield* this.#close(stream, index, move.leaveOpen)
    } else if (move.do === 'close') {
      const index = picked([...stream.open], move.pick)
      if (index !== undefined) yield* this.#close(stream, index, false)
    } else if (move.do === 'stray') yield { is: 'stray', event: strayOf(stream, move.pick) }
    else if (move.do === 'announce') {
      if (move.other || stream.replyId === undefined) yield this.#announce(stream)
      else yield { is: 'announces', id: stream.replyId }
    } else if (move.do === 'break') yield { is: 'stream breaks', error: move.error, asEvent: move.asEvent }
    else if (move.do === 'end') yield { is: 'stream ends' }
    else if (move.do === 'stop' && (move.alone || this.#sent.some((each) => each.stream === stream))) {
      yield { is: 'stops', reason: move.reason }
      if (move.ends) yield { is: 'stream ends' }
    }
  }

  /** A reply begins with message_start. */
  *#opening(stream: HeldStream): Generator<Entry> {
    if (stream.replyId === undefined && !this.#plan.isNameless) yield this.#announce(stream)
  }

  #announce(stream: HeldStream): Entry {
    stream.open.clear()
    stream.closed.clear()
    const isFirst = stream.replyId === undefined
    stream.replyId = this.#plan.isMonotone && isFirst ? 'the reply' : `reply ${++this.#replies}`
    return { is: 'announces', id: stream.replyId }
  }

  *#close(stream: HeldStream, index: number, leaveOpen: boolean): Generator<Entry> {
    stream.open.add(index)
    if (leaveOpen) return
    stream.open.delete(index)
    stream.closed.add(index)
    yield { is: 'closes', index }
  }

  #callFor({ plan, id, pick }: Extract<Move, { do: 'call' }>, stream: HeldStream): SentCall {
    const here = this.#sent.filter((each) => each.stream === stream).map(({ call }) => call)
    const before = this.#sent.filter((each) => each.stream !== stream).map(({ call }) => call)
    const other = picked(id === 'earlier' ? before : here, pick)
    const number = ++this.#calls
    const call: SentCall =
      other === undefined || id === 'fresh'
        ? { id: `c${number}`, number, plan }
        : id === 'same'
          ? other
          : { id: other.id, number, plan }
    this.#sent.push({ call, stream })
    this.#ids.add(call.id)
    return call
  }
}

/** Events without meaning. */
function strayOf({ closed }: HeldStream, pick: number): unknown {
  const [index] = closed
  const events: unknown[] = [
    null,
    5,
    {},
    { type: 'ping' },
    { type: 'new_thing' },
    { type: 'content_block_start', index: 'x' },
    { type: 'content_block_stop', index: 99 },
    { type: 'content_block_delta', index: 99, delta: { type: 'text_delta', text: 'lost' } },
    { type: 'message_delta', delta: {} },
    ...(index === undefined ? [] : [{ type: 'content_block_stop', index }]),
  ]
  return picked(events, pick)
}

// a fraction, not a remainder: after shrinking, it more often picks the same one
const picked = <Value>(values: readonly Value[], pick: number): Value | undefined =>
  values[Math.floor((pick / 100) * values.length)]

const indices = <Value>(values: readonly Value[], isWanted: (value: Value) => boolean): number[] =>
  values.flatMap((value, index) => (isWanted(value) ? [index] : []))
