import type { AnyActorRef } from 'xstate'
import { invalidOption } from '../../base/invalid-option.ts'
import { costOf, type Prices, priceOf, readTokens } from '../../usage/usage-total.ts'
import type { EncodeLimits } from '../frames/encode-value.ts'
import {
  type Frame,
  type FrameBody,
  frameVersion,
  type Recovered,
  type ReplyFrame,
  type SaidFrame,
} from '../frames/frame.ts'
import { hiddenText, type Redact, Redaction } from '../frames/redact.ts'
import { asText } from './call-frames.ts'
import { type Connection, ConnectionWatch, isConnection } from './connection-watch.ts'
import { type Inspectable, RunWatch } from './run-watch.ts'

export interface RecorderOptions {
  /** Called with each frame, in the middle of a step: record the frame and return. */
  onFrame?: ((frame: Frame) => void) | undefined
  /** Replaces values before they are shown: inputs, results, progress and all other data that is not part of the charts. */
  redact?: Redact | undefined
  /** How much of a value is shown. */
  limits?: EncodeLimits | undefined
  /**
   * Returns the time in milliseconds.
   * @default performance.now
   */
  now?: (() => number) | undefined
  /**
   * When the recording began, in milliseconds since 1970.
   * @default Date.now()
   */
  epoch?: number | undefined
  /**
   * Names an actor in the frames. Names must be unique and stable.
   * @default its session id, a counter over all actors of the process
   */
  actorId?: ((actor: AnyActorRef) => string) | undefined
  /**
   * The minimum time between two progress frames of a call, in milliseconds. Of the reports in between, the newest is kept.
   * @default 50
   */
  progressGapMs?: number | undefined
  /** Prices by model, to show what replies cost. */
  prices?: Prices | undefined
}

export interface WatchedAs {
  title?: string | undefined
  /** The actor of the query that owns the executor. Its chart is shown beside the executor's. */
  queryActor?: AnyActorRef | undefined
  /** The id of the call that the executor works for, if it belongs to a sub-agent. */
  parentToolUseID?: string | undefined
  /** It goes on where an earlier process stopped. */
  recovered?: Recovered | undefined
  /** It is the rest of the turn before it. */
  isContinued?: boolean | undefined
}

/** A finished reply, as the service reports it. */
interface ModelReply {
  readonly model?: unknown
  readonly stopReason?: unknown
  readonly usage?: unknown
}

export interface Recorder {
  /**
   * Attaches to an executor, even while it runs, or to a connection to a server. `leave` detaches. `run` is the number in
   * its frames.
   */
  watch(shown: Inspectable | Connection, options?: WatchedAs): { readonly run: number; leave(): void }
  /** Records that an invariant does not hold, for code that checks runs while they are recorded. */
  breach(run: number, found: { readonly invariant: string; readonly problem: string }): void
  /** Records text around the calls of a run: from the user, from the model as it streams, or from the host. */
  say(run: number, by: SaidFrame['by'], text: string): void
  /** Records that the model has finished a reply: its tokens, and its price if `prices` has the model. */
  reply(run: number, reply: ModelReply): void
  /** The current state of everything watched, as frames that a new reader can begin with. */
  picture(): Frame[]
  /** Adds a listener. It gets the current picture, then each frame, like `onFrame`. Returns a function that removes it. */
  follow(onFrame: (frame: Frame) => void): () => void
}

/** Records what executors do. Costs nothing before `watch` and after `leave`. */
export function createRecorder(options: RecorderOptions = {}): Recorder {
  const { onFrame, redact, limits, actorId, progressGapMs = 50, prices = {} } = options
  const { now = () => performance.now(), epoch = Date.now() } = options
  const readers = new Set<(frame: Frame) => void>()
  if (onFrame !== undefined) readers.add(asReader(onFrame))
  const start = now()
  const watches = new Map<number, RunWatch | ConnectionWatch>()
  /** The runs of agents whose task is hidden: their title and their prompt would tell it. */
  const concealed = new Set<number>()
  let numbers = 0
  let executors = 0
  let seq = 0
  const elapsed = (): number => Math.round((now() - start) * 1_000) / 1_000
  const redaction = new Redaction(redact)
  const show = redaction.show(limits ?? {})
  const head: FrameBody = { type: 'head', version: frameVersion, epoch }
  const emit = (run: number, body: FrameBody): void => {
    const frame: Frame = { seq: seq++, at: elapsed(), run, ...body }
    for (const read of readers) {
      try {
        read(frame)
      } catch {
        // an error in a listener must not affect the turn
      }
    }
  }
  const picture = (): Frame[] => {
    const stamp = (run: number) => (body: FrameBody) => ({ seq: Math.max(0, seq - 1), at: elapsed(), run, ...body })
    return [stamp(0)(head), ...[...watches].flatMap(([run, watch]) => watch.picture().map(stamp(run)))]
  }
  return {
    picture,
    follow(more) {
      // a new function, so that the same listener can follow twice and leave once
      const read = (frame: Frame): void => more(frame)
      asReader(more)
      if (seq > 0) for (const frame of picture()) read(frame)
      readers.add(read)
      return () => void readers.delete(read)
    },
    watch(shown, { title: given = `run ${executors + 1}`, ...as } = {}) {
      const { parentToolUseID } = as
      assertWatchable(shown)
      if (seq === 0) emit(0, head)
      const run = ++numbers
      const outer = redaction.labelOf(parentToolUseID)
      const title = outer === undefined ? given : `${outer}, run ${run}`
      if (outer !== undefined) concealed.add(run)
      const write = (body: FrameBody): void => emit(run, body)
      const how = { redaction, limits, actorId }
      if (!isConnection(shown)) executors++
      const watch = isConnection(shown)
        ? new ConnectionWatch(shown, write, how)
        : new RunWatch(shown, write, { ...how, ...as, title, now, progressGapMs })
      watches.set(run, watch)
      watch.attach()
      const leave = (): void => {
        concealed.delete(run)
        if (watches.delete(run)) watch.detach()
      }
      return { run, leave }
    },
    breach: (run, { invariant, problem }) => emit(run, { type: 'breach', invariant, problem }),
    reply(run, reply) {
      if (seq === 0) emit(0, head)
      emit(run, replyFrame(reply, prices))
    },
    say(run, by, text) {
      if (seq === 0) emit(0, head)
      const isHidden = by === 'user' && concealed.has(run)
      emit(run, { type: 'said', by, text: isHidden ? hiddenText : asText(show(text, { what: 'said' })) })
    },
  }
}

function replyFrame({ model, stopReason, usage }: ModelReply, prices: Prices): ReplyFrame {
  const used = readTokens(usage)
  const { inputTokens: input, outputTokens: output, cacheReadTokens: cacheRead, cacheWriteTokens: cacheWrite } = used
  const tokens = { input, output, cacheRead, cacheWrite }
  const name = typeof model === 'string' ? model : null
  const price = name === null ? undefined : priceOf(prices, name, undefined)
  return {
    type: 'reply',
    model: name,
    stopReason: typeof stopReason === 'string' ? stopReason : '',
    tokens,
    ...(price !== undefined && { costUsd: costOf(used, price) }),
  }
}

function asReader(onFrame: unknown): (frame: Frame) => void {
  if (typeof onFrame === 'function') return onFrame as (frame: Frame) => void
  return invalidOption('onFrame', 'a function', onFrame)
}

function assertWatchable(shown: unknown): asserts shown is Inspectable | Connection {
  const { actor, on, onWaiting } = (shown ?? {}) as Partial<Inspectable & Connection>
  if (typeof shown === 'object' && shown !== null && 'onExecutor' in shown)
    invalidOption(
      'watch',
      'an executor or a connection; watch each executor that `onExecutor` of the query reports',
      shown,
    )
  if (typeof actor?.getSnapshot === 'function' && [on, onWaiting].some((each) => typeof each === 'function')) return
  invalidOption('watch', 'an executor or a connection', shown)
}
