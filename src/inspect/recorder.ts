import type { AnyActorRef } from 'xstate'
import { SignalboxError } from '../errors/signalbox-error.ts'
import { describeValue } from '../text/describe-value.ts'
import type { EncodeLimits } from './encode-value.ts'
import { type Frame, type FrameBody, frameVersion } from './frame.ts'
import type { Redact } from './redact.ts'
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
}

export interface WatchedAs {
  title?: string | undefined
  /** The actor of the query that the executor works for: its chart is shown beside the executor's. */
  around?: AnyActorRef | undefined
}

export interface Recorder {
  /** Attaches to an executor, which may have run for long; `leave` goes without a trace. Its frames carry the `run`. */
  watch(executor: Inspectable, options?: WatchedAs): { readonly run: number; leave(): void }
  /** Writes into a run that something does not hold of it: for whoever checks it meanwhile. */
  breach(run: number, found: { readonly invariant: string; readonly problem: string }): void
  /** Everything that is watched as it is now, as frames that a new reader can begin with. */
  picture(): Frame[]
  /** One more that looks on: gets the picture of now, then each frame as `onFrame` does. Returns how to leave. */
  follow(onFrame: (frame: Frame) => void): () => void
}

/** Writes down what executors do. It costs them nothing until `watch`, and nothing after leaving. */
export function createRecorder(options: RecorderOptions = {}): Recorder {
  const { onFrame, redact, limits, actorId, now = () => performance.now(), epoch = Date.now() } = options
  const readers = new Set<(frame: Frame) => void>()
  if (onFrame !== undefined) readers.add(asReader(onFrame))
  const start = now()
  const watches = new Map<number, RunWatch>()
  let runs = 0
  let seq = 0
  const elapsed = (): number => Math.round((now() - start) * 1_000) / 1_000
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
    watch(executor, { title, around } = {}) {
      assertInspectable(executor)
      if (seq === 0) emit(0, head)
      const run = ++runs
      const watch = new RunWatch(executor, (body) => emit(run, body), {
        title: title ?? `run ${run}`,
        around,
        redact,
        limits,
        actorId,
        now,
      })
      watches.set(run, watch)
      watch.attach()
      const leave = (): void => {
        if (watches.delete(run)) watch.detach()
      }
      return { run, leave }
    },
    breach: (run, { invariant, problem }) => emit(run, { type: 'breach', invariant, problem }),
  }
}

function asReader(onFrame: unknown): (frame: Frame) => void {
  if (typeof onFrame === 'function') return onFrame as (frame: Frame) => void
  throw new SignalboxError('invalid_option', `onFrame must be a function, but got ${describeValue(onFrame, 80)}.`)
}

function assertInspectable(executor: unknown): asserts executor is Inspectable {
  const { actor, on } = (executor ?? {}) as Partial<Inspectable>
  if (typeof actor?.getSnapshot === 'function' && typeof on === 'function') return
  throw new SignalboxError('invalid_option', `Only an executor can be watched, but got ${describeValue(executor, 80)}.`)
}
