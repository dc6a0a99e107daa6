import type { Frame } from '../../../src/inspect/index.ts'
import { duration, inline } from '../words.ts'
import type { History } from './history.ts'
import type { Run } from './model.ts'

export type LogKind = 'event' | 'step' | 'result' | 'abort' | 'warning'

export interface LogRow {
  readonly kind: LogKind
  readonly at: number
  readonly who: string
  readonly what: string
  readonly detail: string
  readonly call: string | undefined
}

const kinds: Partial<Record<Frame['type'], LogKind>> = {
  event: 'event',
  step: 'step',
  result: 'result',
  abort: 'abort',
  warning: 'warning',
  gap: 'warning',
  questions: 'event',
}

/** Which frames are rows of the log. It grows with the history and is gone through anew only when the question changes. */
export class LogIndex {
  readonly rows: number[] = []
  readonly #history: History
  readonly #run: number
  readonly #kind: LogKind | 'all'
  readonly #search: string
  #seen = 0

  constructor(history: History, run: number, kind: LogKind | 'all', search: string) {
    this.#history = history
    this.#run = run
    this.#kind = kind
    this.#search = search.trim().toLowerCase()
  }

  isFor(history: History, run: number, kind: LogKind | 'all', search: string): boolean {
    const isSame = history === this.#history && run === this.#run && kind === this.#kind
    return isSame && search.trim().toLowerCase() === this.#search
  }

  /** Takes in what came since the last time. */
  update(): this {
    const { frames, model } = this.#history
    const run = model.runs.get(this.#run)
    for (; this.#seen < frames.length; this.#seen++) {
      const frame = frames[this.#seen] as Frame
      const kind = kinds[frame.type]
      if (kind === undefined || (frame.run !== this.#run && frame.run !== 0)) continue
      // that none is left is told by the answer
      if (frame.type === 'questions' && frame.open.length === 0) continue
      // a step that only follows its event says nothing that the event did not
      if (this.#kind === 'all' ? kind === 'step' && !isEventless(run, frame) : kind !== this.#kind) continue
      if (this.#search !== '' && !textOf(rowOf(run, frame)).includes(this.#search)) continue
      this.rows.push(this.#seen)
    }
    return this
  }

  /** How many rows belong to the first so many frames. */
  countAt(position: number): number {
    let [low, high] = [0, this.rows.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.rows[middle] as number) < position) low = middle + 1
      else high = middle
    }
    return low
  }
}

function isEventless(run: Run | undefined, frame: Frame): boolean {
  if (frame.type !== 'step') return false
  const chart = run?.charts.get(run.actors.get(frame.actor)?.chart ?? '')
  return frame.transitions.some((id) => chart?.transitions[id]?.event === '')
}

const textOf = ({ who, what, detail }: LogRow): string => `${who} ${what} ${detail}`.toLowerCase()

export function nameOfActor(run: Run | undefined, id: string | null): string {
  if (id === null) return 'host'
  const call = run?.actors.get(id)?.call
  const known = call === undefined ? undefined : run?.byId.get(call)
  return known === undefined
    ? id === run?.root
      ? 'executor'
      : id === run?.around
        ? 'query'
        : id
    : `#${known.index + 1}`
}

export function rowOf(run: Run | undefined, frame: Frame): LogRow {
  const { at } = frame
  const of = (id: string | null): string => {
    const call = id === null ? undefined : run?.byId.get(id)
    return call === undefined ? (id ?? 'executor') : `#${call.index + 1}`
  }
  switch (frame.type) {
    case 'event': {
      const who = `${nameOfActor(run, frame.from)} → ${nameOfActor(run, frame.to)}`
      const call = run?.actors.get(frame.to)?.call ?? callIn(frame.data) ?? run?.actors.get(frame.from ?? '')?.call
      const label = call === undefined ? undefined : run?.byId.get(call)?.label
      return { kind: 'event', at, who, what: frame.event, detail: label ?? inline(frame.data, 160), call }
    }
    case 'step':
      return {
        kind: 'step',
        at,
        who: nameOfActor(run, frame.actor),
        what: stepWords(run, frame),
        detail: frame.event === 'xstate.init' ? 'at its start' : `on ${frame.event}`,
        call: run?.actors.get(frame.actor)?.call,
      }
    case 'result':
      return {
        kind: 'result',
        at,
        who: of(frame.call),
        what: frame.isError ? 'error' : frame.message === 'tool_result' ? 'result' : frame.message,
        detail: inline(frame.content, 200).replace(/<\/?tool_use_error>/g, ''),
        call: frame.call,
      }
    case 'abort': {
      const call = frame.call ?? undefined
      return {
        kind: 'abort',
        at,
        who: of(frame.call),
        what: frame.cause.kind,
        detail: inline(frame.cause.reason),
        call,
      }
    }
    case 'warning':
      return {
        kind: 'warning',
        at,
        who: of(frame.call),
        what: frame.code,
        detail: frame.message,
        call: frame.call ?? undefined,
      }
    case 'questions': {
      const detail = frame.open.map(({ call }) => run?.byId.get(call)?.label ?? call).join(', ')
      return { kind: 'event', at, who: 'host', what: 'asks for permission', detail, call: frame.open[0]?.call }
    }
    case 'gap':
      return {
        kind: 'warning',
        at,
        who: 'inspector',
        what: 'gap',
        detail: `${frame.lost} frames are missing (${frame.because})`,
        call: undefined,
      }
    default:
      return { kind: 'event', at, who: '', what: frame.type, detail: duration(at), call: undefined }
  }
}

function stepWords(run: Run | undefined, frame: Extract<Frame, { type: 'step' }>): string {
  const chart = run?.charts.get(run.actors.get(frame.actor)?.chart ?? '')
  const keyOf = (id: number | undefined): string => chart?.nodes.find((node) => node.id === id)?.key ?? '?'
  return frame.transitions
    .flatMap((id) => chart?.transitions[id] ?? [])
    .map(({ source, targets, guard }) => {
      const way = targets.length === 0 ? `${keyOf(source)} stays` : `${keyOf(source)} → ${keyOf(targets[0])}`
      return guard === null ? way : `${way} [${guard}]`
    })
    .join(', ')
}

function callIn(data: unknown): string | undefined {
  const call = (data as { call?: { $?: unknown; id?: unknown } } | null)?.call
  return call?.$ === 'call' && typeof call.id === 'string' ? call.id : undefined
}
