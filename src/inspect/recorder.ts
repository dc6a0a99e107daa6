import type { AnyActorRef } from 'xstate'
import { SignalboxError } from '../errors/signalbox-error.ts'
import { describeValue } from '../text/describe-value.ts'
import { asText } from './call-frames.ts'
import { type Connection, isConnection } from './connection.ts'
import { ConnectionWatch } from './connection-watch.ts'
import type { EncodeLimits } from './encode-value.ts'
import { type Frame, type FrameBody, frameVersion, type SaidFrame } from './frame.ts'
import { type Redact, showWith } from './redact.ts'
import { type Inspectable, RunWatch } from './run-watch.ts'

export interface RecorderOptions {
  /** Gets each frame as it comes about, in the middle of a step: take note, and return. */
  onFrame?: ((frame: Frame) => void) | undefined
  /** Decides what may be shown of inputs, results, progress and everything else that is not the charts' own. */
  redact?: Redact | undefined
  /** How much of a value is shown. */
  limits?: EncodeLimits | undefined
  /**
   * The time in milliseconds.
   * @default performance.now
   */
  now?: (() => number) | undefined
  /**
   * When the recording began, in milliseconds since 1970.
   * @default Date.now()
   */
  epoch?: number | undefined
  /**
   * What an actor is called in the frames: each one another, and the same one always the same.
   * @default its session id, which counts every actor of the process
   */
  actorId?: ((actor: AnyActorRef) => string) | undefined
  /**
   * The least time between two progress frames of a call, in milliseconds; of what comes in between, the newest is kept.
   * @default 50
   */
  progressGapMs?: number | undefined
}

export interface WatchedAs {
  title?: string | undefined
  /** The actor of the query that the executor works for: its chart is shown beside the executor's. */
  around?: AnyActorRef | undefined
  /** The id of the call that the executor works for, where it is that of an agent. */
  inside?: string | undefined
}

export interface Recorder {
  /**
   * Attaches to an executor, which may have run for long, or to a connection to a server; `leave` goes without a trace.
   * Its frames carry the `run`.
   */
  watch(shown: Inspectable | Connection, options?: WatchedAs): { readonly run: number; leave(): void }
  /** Writes into a run that something does not hold of it: for whoever checks it meanwhile. */
  breach(run: number, found: { readonly invariant: string; readonly problem: string }): void
  /** Notes what was said around the calls of a run: the words of a user, of a model as they stream, or the host's own. */
  say(run: number, by: SaidFrame['by'], text: string): void
  /** Everything that is watched as it is now, as frames that a new reader can begin with. */
  picture(): Frame[]
  /** One more that looks on: gets the picture of now, then each frame as `onFrame` does. Returns how to leave. */
  follow(onFrame: (frame: Frame) => void): () => void
}

/** Writes down what executors do. It costs them nothing until `watch`, and nothing after leaving. */
export function createRecorder(options: RecorderOptions = {}): Recorder {
  const { onFrame, redact, limits, actorId, progressGapMs = 50 } = options
  const { now = () => performance.now(), epoch = Date.now() } = options
  const readers = new Set<(frame: Frame) => void>()
  if (onFrame !== undefined) readers.add(asReader(onFrame))
  const start = now()
  const watches = new Map<number, RunWatch | ConnectionWatch>()
  let numbers = 0
  let executors = 0
  let seq = 0
  const elapsed = (): number => Math.round((now() - start) * 1_000) / 1_000
  const show = showWith(redact, limits ?? {}, () => undefined)
  const head: FrameBody = { type: 'head', version: frameVersion, epoch }
  const emit = (run: number, body: FrameBody): void => {
    const frame: Frame = { seq: seq++, at: elapsed(), run, ...body }
    for (const read of readers) {
      try {
        read(frame)
      } catch {
        // whoever listens only looks on: its trouble must not become the turn's
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
      // a function of its own, so that the same one may follow twice and leave once
      const read = (frame: Frame): void => more(frame)
      asReader(more)
      if (seq > 0) for (const frame of picture()) read(frame)
      readers.add(read)
      return () => void readers.delete(read)
    },
    watch(shown, { title = `run ${executors + 1}`, around, inside } = {}) {
      assertWatchable(shown)
      if (seq === 0) emit(0, head)
      const run = ++numbers
      const write = (body: FrameBody): void => emit(run, body)
      const how = { redact, limits, actorId }
      if (!isConnection(shown)) executors++
      const watch = isConnection(shown)
        ? new ConnectionWatch(shown, write, how)
        : new RunWatch(shown, write, { ...how, title, around, inside, now, progressGapMs })
      watches.set(run, watch)
      watch.attach()
      const leave = (): void => {
        if (watches.delete(run)) watch.detach()
      }
      return { run, leave }
    },
    breach: (run, { invariant, problem }) => emit(run, { type: 'breach', invariant, problem }),
    say(run, by, text) {
      if (seq === 0) emit(0, head)
      emit(run, { type: 'said', by, text: asText(show(text, { what: 'said' })) })
    },
  }
}

function asReader(onFrame: unknown): (frame: Frame) => void {
  if (typeof onFrame === 'function') return onFrame as (frame: Frame) => void
  throw new SignalboxError('invalid_option', `onFrame must be a function, but got ${describeValue(onFrame, 80)}.`)
}

function assertWatchable(shown: unknown): asserts shown is Inspectable | Connection {
  const { actor, on, onWaiting } = (shown ?? {}) as Partial<Inspectable & Connection>
  if (typeof actor?.getSnapshot === 'function' && [on, onWaiting].some((each) => typeof each === 'function')) return
  const problem = `Only an executor or a connection can be watched, but got ${describeValue(shown, 80)}.`
  throw new SignalboxError('invalid_option', problem)
}
