import type { Admission, CallRecord } from '../../machines/index.ts'
import type { Message } from '../messages/message.ts'
import { isConflict } from './conflicts.ts'
import type { CallEvidence, RunState, TurnEvidence } from './turn-evidence.ts'

type Announced = Pick<CallRecord, 'id' | 'name' | 'index' | 'yieldsToInterrupt' | 'isSafe' | 'keys' | 'stage'>

/** Collects the evidence of one turn. */
export class EvidenceBook implements TurnEvidence {
  readonly calls: CallEvidence[] = []
  readonly runs: { run: RunState; at: number }[] = []
  readonly order: string[] = []
  readonly messages: Message[] = []
  gate = 'open'
  run: RunState = 'clear'
  maxConcurrency: number
  sleepingReaders = 0
  areWaitsExplained = false
  leftovers: string[] = []
  readonly #byId = new Map<string, CallEvidence>()
  #seen = 0

  constructor(maxConcurrency: number) {
    this.maxConcurrency = maxConcurrency
  }

  get isOver(): boolean {
    return this.run === 'discarded' || this.calls.every(({ phase }) => phase === 'yielded')
  }

  find(id: string): CallEvidence | undefined {
    return this.#byId.get(id)
  }

  announced(record: Announced): CallEvidence {
    const known = this.#byId.get(record.id)
    if (known !== undefined) {
      // a call that completes on arrival is seen before it has an index
      known.index = record.index
      return known
    }
    const call: CallEvidence = {
      id: record.id,
      name: record.name,
      index: record.index,
      stopsAtInterrupt: record.yieldsToInterrupt,
      isSafe: record.isSafe,
      keys: record.keys,
      isHeld: record.stage === 'held',
      phase: 'queued',
      hasExecuted: false,
      overtook: undefined,
      starts: [],
      toldAt: undefined,
      hasTimedOut: false,
      deniedAt: undefined,
      completedAt: undefined,
      ending: undefined,
      results: [],
      progressRead: 0,
      progressDropped: 0,
      lastProgressAt: undefined,
      explained: undefined,
      body: undefined,
    }
    this.#byId.set(call.id, call)
    this.calls.push(call)
    return call
  }

  /** A changed input has given it another class, or other resources. */
  reclassified(record: Announced): void {
    Object.assign(this.announced(record), { isSafe: record.isSafe, keys: record.keys })
  }

  /** The call's own chart moved. */
  moved(call: CallEvidence, state: string, record: Pick<CallRecord, 'isSafe' | 'keys' | 'stage'>): void {
    // whether a result is durable is not the gate's business
    const phase = state.startsWith('completed') ? 'completed' : state
    call.isSafe = record.isSafe
    call.keys = record.keys
    call.isHeld = record.stage === 'held'
    if (phase === call.phase) return
    const before = call.phase
    call.phase = phase
    if (phase === 'queued') call.hasExecuted = false
    else if (phase.startsWith('executing')) {
      call.hasExecuted = true
      if (before === 'queued') call.overtook ??= this.calls.find((each) => isBarrier(each, call))?.id
    }
    const at = this.#next()
    if (isCalling(phase) && !isCalling(before)) {
      const beside = this.calls.filter((each) => each !== call && isBodyAlive(each))
      const conflict = beside.find((each) => isConflict(call, each))?.id
      call.starts.push({ at, beside: beside.map(({ id }) => id), conflict })
    }
    if (isStopped(phase) && !isStopped(before)) call.completedAt = at
  }

  /** The call existed before the watch began: its start is unknown. */
  wasBefore(id: string): void {
    const call = this.#byId.get(id)
    if (call === undefined) return
    call.overtook = undefined
    call.starts.splice(0, call.starts.length, ...call.starts.map(() => ({ at: 0, beside: [], conflict: undefined })))
  }

  /** Stores the executor's reasons for waiting calls. */
  explained(waits: ReadonlyMap<string, Admission>): void {
    this.areWaitsExplained = true
    for (const call of this.calls) call.explained = waits.get(call.id)
  }

  told(call: CallEvidence): void {
    call.toldAt ??= this.#next()
  }

  denied(call: CallEvidence): void {
    call.deniedAt ??= this.#next()
  }

  executorMoved(gate: string, run: RunState): void {
    this.gate = gate
    if (run === this.run) return
    this.run = run
    this.runs.push({ run, at: this.#next() })
  }

  read(message: Message): void {
    this.messages.push(message)
    if (message.type === 'progress') {
      const call = this.#byId.get(message.parentToolUseID)
      if (call === undefined) return
      return this.readProgress(call, typeof message.dropped === 'number' ? message.dropped : 0)
    }
    if (message.type !== 'user' || typeof message.message.content === 'string') return
    const at = this.#next()
    for (const block of message.message.content) {
      if (block.type !== 'tool_result') continue
      const id = String(block.tool_use_id)
      this.order.push(id)
      const text = typeof block.content === 'string' ? block.content : JSON.stringify(block.content)
      this.#byId.get(id)?.results.push({ at, isError: block.is_error === true, text })
    }
  }

  readProgress(call: CallEvidence, dropped: number): void {
    call.progressRead++
    call.progressDropped += dropped
    call.lastProgressAt = this.#next()
  }

  #next(): number {
    return ++this.#seen
  }
}

/** A held call may never run: only what it may write is kept for it. */
export const isBarrier = (each: CallEvidence, call: CallEvidence): boolean =>
  each.phase === 'queued' && each.index < call.index && isConflict(each, call, each.isHeld)

const isStopped = (phase: string): boolean => phase === 'completed' || phase === 'yielded'

/** Wherever its body runs. */
export const isCalling = (phase: string): boolean => phase.startsWith('executing.calling.')

/** Its body has started and not ended, by the body's own evidence or else by the call's chart. */
export function isBodyAlive({ body, phase, ending }: CallEvidence): boolean {
  // it has left its turn
  if (ending?.by === 'background') return false
  if (body !== undefined) return body.isRunning && !body.isAbandoned
  return isCalling(phase) || phase === 'executing.stopping'
}

/** The state value of a chart as a path: `executing.permission.asking`. */
export function pathOf(value: unknown): string {
  if (typeof value === 'string') return value
  const [[key, inner] = ['', '']] = Object.entries(value as object)
  return `${key}.${pathOf(inner)}`
}
