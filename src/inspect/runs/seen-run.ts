import type { CallStage } from '../../../machines/index.ts'
import type { ChartDefinition } from '../chart-definition.ts'
import type { ActorFrame, BooksFrame, CallFrame, EventFrame, Frame, RunFrame, WaitGroup } from '../frame.ts'
import { toMicros } from './agenda.ts'
import { type Phase, phases, type SeenCall, type WaitedFor } from './seen-call.ts'
import { statesOf } from './states-of.ts'

/** What the host or a reader told the executor, and whether the chart took it. */
export interface SeenCommand {
  readonly event: string
  readonly at: number
  readonly seq: number
  isTaken: boolean
  /** It came to `interrupted`, not further. */
  isInterrupt: boolean
  /** A call did it from the inside. */
  by?: string
}

type Outside = Pick<Frame & EventFrame, 'to' | 'event' | 'seq'>

const nothing: Outside = { to: '', event: '', seq: -1 }

/** One run of a recording, as what came from outside and how long everything took. */
export class SeenRun {
  readonly title: string
  readonly maxConcurrency: number | null
  /** The recorder came when it ran already: what it found counts as having come then. */
  readonly isLate: boolean
  /** Why it cannot be told: it was stopped before it was seen, or frames are missing. */
  lacks: 'start' | 'frames' | undefined
  readonly calls: SeenCall[] = []
  readonly byId = new Map<string, SeenCall>()
  readonly commands: SeenCommand[] = []
  /** How many frames it is made of. */
  size = 0
  readonly #root: string
  readonly #charts = new Map<string, ChartDefinition>()
  readonly #chartOf = new Map<string, string>()
  readonly #byActor = new Map<string, SeenCall>()
  /** What a late recorder found actors in. */
  readonly #found = new Map<string, readonly number[]>()
  #isPicture: boolean
  #outside = nothing
  /** The last thing from outside that was no command. */
  #lastOther = -1
  #isInterrupted = false
  #starts = 0
  #now = 0
  #waits: readonly WaitGroup[] = []
  /** As they were when the charts were last at rest. */
  #waitsAtRest: readonly WaitGroup[] = []

  constructor({ title, maxConcurrency, root, isLate, at }: RunFrame & Pick<Frame, 'at'>) {
    this.title = title
    this.maxConcurrency = maxConcurrency
    this.#root = root
    this.#now = toMicros(at)
    this.isLate = isLate
    this.#isPicture = isLate
  }

  see(frame: Frame): void {
    this.size++
    switch (frame.type) {
      case 'chart':
        return void this.#charts.set(frame.chart.id, frame.chart)
      case 'actor':
        return this.#find(frame)
      case 'event':
        return frame.from === null ? this.#comes(frame) : this.#passes(frame)
      case 'step':
        return frame.actor === this.#root ? this.#rootSteps(frame) : this.#callSteps(frame)
      case 'call':
        return this.#meet(frame)
      case 'books':
        return this.#booksChange(frame)
      case 'ending': {
        const call = this.byId.get(frame.call)
        if (call !== undefined) call.ending = frame
        return
      }
      case 'result':
        return void this.byId.get(frame.call)?.results.push(frame)
      case 'gap':
        if (frame.because !== 'truncated') this.lacks ??= 'frames'
    }
  }

  #find({ actor, chart, active }: Frame & ActorFrame): void {
    this.#chartOf.set(actor, chart)
    if (!this.#isPicture) return
    this.#found.set(actor, active)
    if (actor === this.#root && !this.#statesOf(actor, active).includes('clear')) this.lacks = 'start'
  }

  /** From outside, so the charts were at rest. */
  #comes(frame: Frame & EventFrame): void {
    const { to, event, seq } = frame
    this.#now = Math.max(this.#now, toMicros(frame.at))
    this.#outside = { to, event, seq }
    this.#waitsAtRest = this.#waits
    if (to === this.#root && event.startsWith('abort.')) {
      this.commands.push({ event, at: this.#now, seq, isTaken: false, isInterrupt: false })
      return
    }
    const call = this.#byActor.get(to)
    if (call !== undefined && event === 'call.abort') this.#stopsTurn(call)
    this.#lastOther = seq
  }

  /** Its own controller was aborted: the command just before was not the host's. */
  #stopsTurn(call: SeenCall): void {
    const command = this.commands.findLast(({ isTaken }) => isTaken)
    if (command === undefined || command.by !== undefined || command.seq < this.#lastOther) return
    const visit = call.visits.findLast(({ fromSeq }) => fromSeq < command.seq)
    if (visit === undefined) return
    command.by = call.id
    visit.stopsTurn = { at: command.at, seq: command.seq, reason: command.isInterrupt ? 'interrupt' : 'aborted' }
  }

  #passes({ from, to, event }: EventFrame): void {
    // what a call does to others comes with its own answer, after the step
    const answer = to === this.#root ? this.#byActor.get(from ?? '')?.visits.at(-1)?.answer : undefined
    if (answer?.seq === this.#outside.seq) {
      if (event === 'abort.siblingError') answer.cancelsSiblings = true
      if (event === 'abort.userInterrupted') answer.stopsTurn = true
    }
    const call = this.#byActor.get(to)
    const isTold = event === 'call.abort' || (event === 'call.interrupt' && call?.stopsAtInterrupt === true)
    const visit = call?.visits.at(-1)
    if (isTold && visit !== undefined && visit.to === undefined) visit.toldAt ??= this.#now
  }

  #rootSteps({ actor, event, active }: Frame & { type: 'step' }): void {
    if (active !== undefined) this.#isInterrupted = this.#statesOf(actor, active).includes('interrupted')
    const command = this.commands.at(-1)
    if (command === undefined || command.seq !== this.#outside.seq || command.event !== event) return
    command.isTaken = true
    command.isInterrupt = this.#isInterrupted
  }

  #callSteps({ actor, active }: Frame & { type: 'step' }): void {
    const call = this.#byActor.get(actor)
    if (call === undefined || active === undefined) return
    const next = this.#statesOf(actor, active).at(-1) ?? ''
    const left = call.visits.at(-1)
    const { to, event, seq } = this.#outside
    if (left !== undefined && left.to === undefined) {
      left.to = this.#now
      const isOwn = to === actor && event !== 'call.abort'
      if (isOwn) left.answer = { event, seq, next, cancelsSiblings: false, stopsTurn: false }
    }
    if (isPhase(next)) call.visits.push({ phase: next, from: this.#now, fromSeq: seq })
  }

  #meet(frame: Frame & CallFrame): void {
    const known = this.byId.get(frame.call)
    if (known !== undefined) {
      known.label = frame.label
      return
    }
    const { call: id, name, label, input, lane, stopsAtInterrupt, stage } = frame
    const call: SeenCall = {
      id,
      name,
      label,
      input,
      index: this.calls.length,
      isSafe: lane === 'shared',
      stopsAtInterrupt,
      isHeld: stage === 'held',
      addedAt: this.#now,
      addedSeq: this.#isPicture ? frame.seq : this.#outside.seq,
      wasOver: this.#isPicture && (stage === 'completed' || stage === 'yielded'),
      visits: [],
      results: [],
    }
    // places are counted here: what a recording says of them may be anything
    if (frame.index !== call.index) this.lacks ??= 'frames'
    this.calls.push(call)
    this.byId.set(id, call)
    this.#byActor.set(frame.actor, call)
    this.#reaches(call, stage)
    const found = this.#statesOf(frame.actor, this.#found.get(frame.actor) ?? []).at(-1) ?? ''
    if (isPhase(found)) call.visits.push({ phase: found, from: this.#now, fromSeq: frame.seq })
  }

  #booksChange({ stages = [], waits }: BooksFrame): void {
    this.#isPicture = false
    for (const [id, stage] of stages) {
      const call = this.byId.get(id)
      if (call !== undefined) this.#reaches(call, stage)
    }
    if (waits !== undefined) this.#waits = waits
  }

  #reaches(call: SeenCall, stage: CallStage): void {
    const { event, seq } = this.#outside
    if (call.isHeld && call.letGo === undefined && (event === 'call.release' || event === 'call.withdraw')) {
      if (stage !== 'held') call.letGo = { at: this.#now, seq, isWithdrawn: event === 'call.withdraw' }
    }
    if (stage === 'executing' && call.startedAt === undefined) this.#start(call)
    if (stage === 'completed' || stage === 'yielded') call.endedAt ??= this.#now
    if (stage === 'yielded' && call.yieldedAt === undefined) {
      call.yieldedAt = this.#now
      call.yieldedSeq = seq
    }
    const before = this.calls[call.index - 1]
    if (stage === 'completed' && (before === undefined || before.yieldedAt !== undefined)) call.readyAt ??= this.#now
    const after = this.calls[call.index + 1]
    if (stage === 'yielded' && after?.endedAt !== undefined) after.readyAt ??= this.#now
  }

  #start(call: SeenCall): void {
    call.startedAt = this.#now
    call.startedSeq = this.#starts++
    const why = this.#waitsAtRest.find(({ calls }) => calls.some(([a, b]) => a <= call.index && call.index <= b))
    if (why !== undefined) call.waitedFor = waitedFor(why)
  }

  #statesOf(actor: string, active: readonly number[]): readonly string[] {
    return statesOf(this.#charts.get(this.#chartOf.get(actor) ?? ''), active)
  }
}

const isPhase = (state: string): state is Phase => phases.includes(state as Phase)

const waitedFor = ({ because, blockers }: WaitGroup): WaitedFor => ({ because, blockers })
