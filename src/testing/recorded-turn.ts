import type { Admission, CallRecord, Ending } from '../../machines/index.ts'
import type { ChartDefinition, Frame, WaitGroup } from '../inspect/index.ts'
import { createToolResultMessage } from '../messages/create-messages.ts'
import type { ContentBlock } from '../messages/message.ts'
import { EvidenceBook } from './evidence-book.ts'
import type { RunState } from './turn-evidence.ts'

type Record = Pick<CallRecord, 'id' | 'name' | 'index' | 'yieldsToInterrupt' | 'isSafe' | 'stage'>

/** One run of a recording, as evidence. */
export class RecordedTurn {
  readonly book: EvidenceBook
  readonly #root: string
  readonly #charts = new Map<string, ChartDefinition>()
  readonly #chartOf = new Map<string, string>()
  readonly #records = new Map<string, Record>()
  /** Whose actor it is becomes known only after its first steps. */
  readonly #callOf = new Map<string, string>()
  readonly #early = new Map<string, Frame[]>()

  /** Until its books are seen, a late recorder tells of what was before it came. */
  #isPicture: boolean

  constructor({
    root,
    maxConcurrency,
    isLate,
  }: Pick<Extract<Frame, { type: 'run' }>, 'root' | 'maxConcurrency' | 'isLate'>) {
    this.#root = root
    this.#isPicture = isLate
    this.book = new EvidenceBook(maxConcurrency ?? Number.POSITIVE_INFINITY)
  }

  see(frame: Frame): void {
    const { book } = this
    switch (frame.type) {
      case 'chart':
        return void this.#charts.set(frame.chart.id, frame.chart)
      case 'actor':
        this.#chartOf.set(frame.actor, frame.chart)
        return this.#moved(frame.actor, frame.active, frame)
      case 'step':
        return frame.active === undefined ? undefined : this.#moved(frame.actor, frame.active, frame)
      case 'call':
        return this.#meet(frame)
      case 'books':
        this.#isPicture = false
        if (frame.waits !== undefined) book.explained(waitsIn(frame.waits, book))
        for (const [id, stage, lane] of frame.stages ?? []) {
          const record = this.#records.get(id)
          const call = book.find(id)
          if (record === undefined || call === undefined) continue
          Object.assign(record, { stage, isSafe: lane === 'shared' })
          book.moved(call, call.phase, record as CallRecord)
        }
        return
      case 'event':
        if (frame.event === 'permission.denied') this.#withCall(frame.to, (call) => book.denied(call))
        if (frame.event === 'call.timedOut')
          this.#withCall(frame.to, (call) => Object.assign(call, { hasTimedOut: true }))
        return
      case 'abort': {
        const call = frame.layer === 'call' && frame.event === 'call.abort' ? book.find(frame.call ?? '') : undefined
        return call && book.told(call)
      }
      case 'ending': {
        const call = book.find(frame.call)
        if (call !== undefined) call.ending = endingOf(frame)
        return
      }
      case 'progress': {
        const call = book.find(frame.call)
        return call && book.readProgress(call, 0)
      }
      case 'result':
        if (frame.message === 'tool_result') book.read(messageOf(frame))
    }
  }

  #meet(frame: Extract<Frame, { type: 'call' }>): void {
    // what readers got before nobody can know
    if (this.#isPicture && frame.stage === 'yielded') return
    const record: Record = {
      id: frame.call,
      name: frame.name,
      index: frame.index,
      yieldsToInterrupt: frame.stopsAtInterrupt,
      isSafe: frame.lane === 'shared',
      stage: frame.stage,
    }
    this.#records.set(frame.call, record)
    this.#callOf.set(frame.actor, frame.call)
    this.book.announced(record as CallRecord)
    const early = this.#early.get(frame.actor) ?? []
    this.#early.delete(frame.actor)
    for (const each of early) this.see(each)
    if (this.#isPicture) this.book.wasBefore(frame.call)
  }

  #moved(actor: string, active: readonly number[], frame: Frame): void {
    const chart = this.#charts.get(this.#chartOf.get(actor) ?? '')
    if (chart === undefined) return
    const paths = pathsOf(chart, active)
    if (actor === this.#root) {
      const in_ = (region: string) => paths.find((path) => path.startsWith(`${region}.`))?.slice(region.length + 1)
      return this.book.executorMoved(in_('gate') ?? 'open', (in_('run') ?? 'clear') as RunState)
    }
    const isKnown = this.#withCall(actor, (call, record) => this.book.moved(call, paths[0] ?? '', record as CallRecord))
    if (!isKnown) this.#early.set(actor, [...(this.#early.get(actor) ?? []), frame])
  }

  #withCall(
    actor: string,
    then: (call: NonNullable<ReturnType<EvidenceBook['find']>>, record: Record) => void,
  ): boolean {
    const id = this.#callOf.get(actor) ?? ''
    const [call, record] = [this.book.find(id), this.#records.get(id)]
    if (call === undefined || record === undefined) return false
    then(call, record)
    return true
  }
}

/** Who waits, and why, by id. */
function waitsIn(groups: readonly WaitGroup[], { calls }: EvidenceBook): Map<string, Admission> {
  const waits = new Map<string, Admission>()
  const byIndex = new Map(calls.map(({ index, id }) => [index, id]))
  for (const { because, blockers, calls: places } of groups) {
    const admission: Admission = { ok: false, because, blockers }
    for (const [from, to] of places) {
      // a recording can say anything: no further than there are calls
      for (let index = from; index <= to && index - from <= calls.length; index++) {
        const id = byIndex.get(index)
        if (id !== undefined) waits.set(id, admission)
      }
    }
  }
  return waits
}

/** The innermost active states, as paths below the root. */
function pathsOf({ nodes }: ChartDefinition, active: readonly number[]): string[] {
  const isOn = new Set(active)
  // a recording can say anything, even that two states stand inside each other: no deeper than there are states
  const pathOf = (id: number, depth = 0): string[] => {
    const node = depth > nodes.length ? undefined : nodes[id]
    return node === undefined || node.parent === null ? [] : [...pathOf(node.parent, depth + 1), node.key]
  }
  return active
    .filter((id) => !nodes.some((node) => node.parent === id && isOn.has(node.id)))
    .map((id) => pathOf(id).join('.'))
}

function endingOf({ by, kind, reached }: Extract<Frame, { type: 'ending' }>): Ending {
  if (by !== 'abort' || kind === null) return { by: by === 'answer' ? 'answer' : 'result' }
  return { by, cause: { kind, reason: undefined }, reached: (reached ?? 'underWay') as 'underWay' }
}

const messageOf = ({ call, isError, content }: Extract<Frame, { type: 'result' }>) =>
  createToolResultMessage(
    {
      type: 'tool_result',
      tool_use_id: call,
      content: typeof content === 'string' ? content : (JSON.stringify(content) as string | ContentBlock[]),
      ...(isError && { is_error: true }),
    },
    { sourceToolAssistantUUID: 'recorded' },
  )
