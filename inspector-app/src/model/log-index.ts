import type { Encoded, Frame } from '../../../src/inspect/index.ts'
import { duration, eventWords, inline } from '../words.ts'
import type { History } from './history.ts'
import type { Cast, Model, Run } from './model.ts'
import type { TimeRange } from './time-range.ts'

export type LogKind = 'event' | 'step' | 'result' | 'abort' | 'warning'

export interface LogRow {
  readonly kind: LogKind
  readonly at: number
  readonly who: string
  readonly what: string
  readonly detail: string
  readonly call: string | undefined
  readonly isError?: boolean
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

/** Which frames are rows of the log. Grows with the history; rebuilt only when the filter changes. */
export class LogIndex {
  readonly rows: number[] = []
  readonly #history: History
  readonly #run: number | undefined
  readonly #kind: LogKind | 'all'
  readonly #search: string
  #seen = 0

  /** @param run undefined: every run */
  constructor(history: History, run: number | undefined, kind: LogKind | 'all', search: string) {
    this.#history = history
    this.#run = run
    this.#kind = kind
    this.#search = search.trim().toLowerCase()
  }

  isFor(history: History, run: number | undefined, kind: LogKind | 'all', search: string): boolean {
    const isSame = history === this.#history && run === this.#run && kind === this.#kind
    return isSame && search.trim().toLowerCase() === this.#search
  }

  /** Processes new frames. */
  update(): this {
    const { start, length, model } = this.#history
    this.#seen = Math.max(this.#seen, start)
    if ((this.rows[0] ?? start) < start) this.rows.splice(0, this.countAt(start))
    for (; this.#seen < length; this.#seen++) {
      const frame = this.#history.at(this.#seen) as Frame
      const kind = kinds[frame.type]
      if (kind === undefined) continue
      const isOfServer = frame.run !== this.#run && isServerMove(model, frame)
      if (this.#run !== undefined && frame.run !== this.#run && frame.run !== 0 && !isOfServer) continue
      const run = model.runs.get(this.#run ?? frame.run)
      // the answer already shows that no question is open
      if (frame.type === 'questions' && frame.open.length === 0) continue
      // a step that directly follows its event adds no information
      if (this.#kind === 'all' ? kind === 'step' && !isOfServer && !isEventless(run, frame) : kind !== this.#kind)
        continue
      if (this.#search !== '' && !isFound(this.#search, rowOf(run, frame, model), frame)) continue
      this.rows.push(this.#seen)
    }
    return this
  }

  /** The number of rows within the first `position` frames. */
  countAt(position: number): number {
    return countBefore(this.rows, position)
  }
}

/** Those rows whose frames are in the range; both are in the order of time. */
export function rowsIn(rows: readonly number[], history: History, range: TimeRange | undefined): readonly number[] {
  if (range === undefined) return rows
  const before = (time: number): number => {
    let [low, high] = [0, rows.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((history.at(rows[middle] as number)?.at ?? 0) < time) low = middle + 1
      else high = middle
    }
    return low
  }
  return rows.slice(before(range[0]), before(range[1] + 1e-6))
}

/** The number of positions before another one. */
export function countBefore(rows: readonly number[], position: number): number {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((rows[middle] as number) < position) low = middle + 1
    else high = middle
  }
  return low
}

/** Connections belong to no run: their state changes appear in every run's log. */
const isServerMove = ({ servers }: Model, frame: Frame): boolean =>
  frame.type === 'step' && frame.active !== undefined && servers.has(frame.run)

function isEventless(run: Run | undefined, frame: Frame): boolean {
  if (frame.type !== 'step') return false
  const chart = run?.charts.get(run.actors.get(frame.actor)?.chart ?? '')
  return frame.transitions.some((id) => chart?.transitions[id]?.event === '')
}

/** Searches the row's text, its call id, and the full value that the row truncates. */
function isFound(search: string, { who, what, detail, call = '' }: LogRow, frame: Frame): boolean {
  if (`${who} ${what} ${detail} ${call}`.toLowerCase().includes(search)) return true
  if (frame.type === 'result') return textsIn(frame.content).some((text) => text.toLowerCase().includes(search))
  return frame.type === 'event' && textsIn(frame.data).some((text) => text.toLowerCase().includes(search))
}

/** Every string inside a value, unescaped: JSON would escape quotes and line breaks. */
function textsIn(value: Encoded): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return [String(value)]
  // the key `$` names the original kind of a value
  return Object.entries(value).flatMap(([key, each]) => (key === '$' ? [] : textsIn(each)))
}

export function nameOfActor(run: Run | undefined, id: string | null): string {
  if (id === null) return 'host'
  const known = run?.byActor.get(id)
  return known === undefined
    ? id === run?.root
      ? 'executor'
      : id === run?.queryActor
        ? 'query'
        : id
    : `#${known.index + 1}`
}

export function rowOf(run: Run | undefined, frame: Frame, { servers }: Model): LogRow {
  const { at } = frame
  const server = servers.get(frame.run)
  const of = (id: string | null): string => {
    const call = id === null ? undefined : run?.byId.get(id)
    return call === undefined ? (id ?? 'executor') : `#${call.index + 1}`
  }
  switch (frame.type) {
    case 'event': {
      const who = `${nameOfActor(run, frame.from)} → ${nameOfActor(run, frame.to)}`
      const call = run?.byActor.get(frame.to)?.id ?? callIn(frame.data) ?? run?.byActor.get(frame.from ?? '')?.id
      const label = call === undefined ? undefined : run?.byId.get(call)?.label
      return { kind: 'event', at, who, what: frame.event, detail: label ?? inline(frame.data, 160), call }
    }
    case 'step':
      return {
        kind: 'step',
        at,
        who: server?.name ?? nameOfActor(run, frame.actor),
        what: stepWords(server ?? run, frame),
        detail: stepCause(frame),
        call: run?.byActor.get(frame.actor)?.id,
      }
    case 'result':
      return {
        kind: 'result',
        at,
        who: of(frame.call),
        what: frame.isError ? 'error' : frame.message === 'tool_result' ? 'result' : frame.message,
        detail: inline(frame.content, 200).replace(/<\/?tool_use_error>/g, ''),
        call: frame.call,
        isError: frame.isError,
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

function stepCause({ event, context }: Extract<Frame, { type: 'step' }>): string {
  if (event === 'xstate.init') return 'at start'
  const words = event.startsWith('xstate.') ? eventWords(event) : `on ${event}`
  const problem = context?.set?.find(([path]) => path.length === 1 && path[0] === 'problem')?.[1]
  return problem === undefined ? words : `${words}: ${inline(problem, 200)}`
}

function stepWords(cast: Cast | undefined, frame: Extract<Frame, { type: 'step' }>): string {
  const chart = cast?.charts.get(cast.actors.get(frame.actor)?.chart ?? '')
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
