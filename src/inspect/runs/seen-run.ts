import type { Frame, FrameOf, WaitGroup } from '../frames/frame.ts'
import { type ActiveStates, activeStates } from '../run-model/active-states.ts'
import { foldRun } from '../run-model/fold-frame.ts'
import type { RunListener } from '../run-model/run-listener.ts'
import { type ActorState, type CallState, newRunState, type RunState } from '../run-model/run-state.ts'
import { waitOf } from '../run-model/why-waiting.ts'
import { toMicros } from './agenda.ts'
import { callPhases, type Phase, type SeenCall } from './seen-call.ts'

/** A command from the host or a reader, and whether the chart accepted it. */
export interface SeenCommand {
  readonly event: string
  readonly at: number
  readonly seq: number
  isTaken: boolean
  /** It led to `interrupted`, not to a stronger abort. */
  isInterrupt: boolean
  /** The call that caused it, if one did. */
  by?: string
}

type Outside = Pick<FrameOf<'event'>, 'to' | 'event' | 'seq'>

const nothing: Outside = { to: '', event: '', seq: -1 }

type Seen = RunState<SeenCall>

/** One run of a recording: outside events and durations. */
export class SeenRun {
  /** Why it cannot be rerun: it was stopped before recording began, or frames are missing. */
  lacks: 'start' | 'frames' | undefined
  readonly commands: SeenCommand[] = []
  /** The number of frames. */
  size = 0
  readonly #state: Seen
  readonly #listener: RunListener<Seen> = {
    newActor: (state) => state,
    newCall: (state, frame) => this.#newCall(state, frame),
    onActor: (actor) => this.#find(actor),
    onStep: (actor, frame) => (actor.id === this.#state.root ? this.#rootSteps(frame) : this.#callSteps(frame)),
    onCall: (call, frame) => this.#meet(call, frame),
    onStage: (call) => this.#reaches(call),
  }
  #outside = nothing
  /** The last outside event that was not a command. */
  #lastOther = -1
  #isInterrupted = false
  #starts = 0
  #now = 0
  /** When the model last said something, in microseconds. */
  saidAt: number
  /** In microseconds. */
  readonly startedAt: number
  /** The sequence number of its first frame. */
  readonly startedSeq: number
  /** The waits before the current step. */
  #waitsAtRest: readonly WaitGroup[] = []

  #named: string[] | undefined
  #namedSeq = -1

  constructor(frame: FrameOf<'run'>, parentRun: number | undefined) {
    this.#state = newRunState(frame, parentRun)
    this.startedAt = this.saidAt = this.#now = toMicros(frame.at)
    this.startedSeq = frame.seq
  }

  /** The finished replies of the model. */
  get replies(): readonly FrameOf<'reply'>[] {
    return this.#state.replies
  }

  /** What the model said, thoughts left out. */
  get text(): string {
    const said = this.#state.said.filter(({ by }) => by === 'model')
    return said.map(({ text }) => text).join('\n')
  }

  /** The call of another run that it works for. */
  get parentToolUseID(): string | undefined {
    return this.#state.parentToolUseID
  }

  /** The number of the run that has this call. */
  get parentRun(): number | undefined {
    return this.#state.parentRun
  }

  /** Calls start at a moment of the model's stream that depends on their class. */
  get isInQuery(): boolean {
    return this.#state.queryActor !== undefined
  }

  get title(): string {
    return this.#state.title
  }

  get maxConcurrency(): number | null {
    return this.#state.maxConcurrency
  }

  /** The recorder attached late: calls that already existed count as added then. */
  get isLate(): boolean {
    return this.#state.isLate
  }

  get calls(): readonly SeenCall[] {
    return this.#state.calls
  }

  get byId(): ReadonlyMap<string, SeenCall> {
    return this.#state.byId
  }

  see(frame: Frame): void {
    this.size++
    if (frame.type === 'event') return frame.from === null ? this.#comes(frame) : this.#passes(frame)
    if (isOfModel(frame)) this.saidAt = Math.max(this.saidAt, toMicros(frame.at))
    foldRun(this.#state, frame, this.#listener)
    const isMissing = frame.type === 'call' && !this.byId.has(frame.call)
    if (isMissing || (frame.type === 'gap' && frame.because !== 'truncated')) this.lacks ??= 'frames'
  }

  /** A run that is already being stopped cannot be rerun from here. */
  #find(actor: ActorState): void {
    const { isPicture, root } = this.#state
    if (isPicture && actor.id === root && !this.#statesOf(actor.id).names.includes('clear')) this.lacks = 'start'
  }

  /** An outside event: no step is in progress. */
  #comes(frame: FrameOf<'event'>): void {
    const { to, event, seq } = frame
    this.#now = Math.max(this.#now, toMicros(frame.at))
    this.#outside = { to, event, seq }
    this.#waitsAtRest = this.#state.waits
    if (to === this.#state.root && (event.startsWith('abort.') || event === 'calls.withdraw')) {
      this.commands.push({ event, at: this.#now, seq, isTaken: false, isInterrupt: false })
      return
    }
    const call = this.#state.byActor.get(to)
    if (call !== undefined && event === 'call.abort') this.#stopsTurn(call)
    this.#lastOther = seq
  }

  /** The call aborted its own controller, so the command just before did not come from the host. */
  #stopsTurn(call: SeenCall): void {
    const command = this.commands.findLast(({ isTaken }) => isTaken)
    if (command === undefined || command.by !== undefined || command.seq < this.#lastOther) return
    const visit = call.visits.findLast(({ fromSeq }) => fromSeq < command.seq)
    if (visit === undefined) return
    command.by = call.id
    visit.stopsTurn = { at: command.at, seq: command.seq, reason: command.isInterrupt ? 'interrupt' : 'aborted' }
  }

  #passes({ from, to, event }: FrameOf<'event'>): void {
    // a call's effects on others follow its own answer, after the step
    const answer = to === this.#state.root ? this.#state.byActor.get(from ?? '')?.visits.at(-1)?.answer : undefined
    if (answer?.seq === this.#outside.seq) {
      if (event === 'abort.siblingError') answer.cancelsSiblings = true
      if (event === 'abort.siblings') {
        answer.cancelsSiblings = this.#named = []
        this.#namedSeq = this.#outside.seq
      }
      if (event === 'abort.userInterrupted') answer.stopsTurn = true
      if (event === 'call.rekeyed') answer.changesKeys = true
    }
    const call = this.#state.byActor.get(to)
    // the named siblings are aborted in the same step
    if (this.#namedSeq !== this.#outside.seq) this.#named = undefined
    else if (from === this.#state.root && event === 'call.abort' && call !== undefined) this.#named?.push(call.id)
    const isTold = event === 'call.abort' || (event === 'call.interrupt' && call?.stopsAtInterrupt === true)
    const visit = call?.visits.at(-1)
    if (isTold && visit !== undefined && visit.to === undefined) visit.toldAt ??= this.#now
  }

  #rootSteps({ actor, event, active }: FrameOf<'step'>): void {
    if (active !== undefined) this.#isInterrupted = this.#statesOf(actor).names.includes('interrupted')
    const command = this.commands.at(-1)
    if (command === undefined || command.seq !== this.#outside.seq || command.event !== event) return
    command.isTaken = true
    command.isInterrupt = this.#isInterrupted
  }

  #callSteps({ actor, active }: FrameOf<'step'>): void {
    const call = this.#state.byActor.get(actor)
    if (call === undefined || active === undefined) return
    const { phase: next, innermost } = this.#statesOf(actor)
    const left = call.visits.at(-1)
    const { to, event, seq } = this.#outside
    if (left?.phase === 'calling' && next === 'calling' && left.to === undefined) {
      left.moves ??= []
      left.moves.push({ at: this.#now, seq, event: innermost === 'sent' ? 'body.sent' : 'body.pickedUp' })
      return
    }
    if (left !== undefined && left.to === undefined) {
      left.to = this.#now
      const isOwn = to === actor && event !== 'call.abort'
      if (isOwn) left.answer = { event, seq, next, cancelsSiblings: false, stopsTurn: false, changesKeys: false }
    }
    if (isPhase(next)) call.visits.push({ phase: next, from: this.#now, fromSeq: seq })
  }

  #newCall(state: CallState, { seq }: FrameOf<'call'>): SeenCall {
    const { stage } = state
    const { isPicture } = this.#state
    return Object.assign(state, {
      isSafe: state.lane === 'shared',
      firstKeys: state.keys,
      isHeld: stage === 'held',
      addedAt: this.#now,
      addedSeq: isPicture ? seq : this.#outside.seq,
      wasOver: isPicture && (stage === 'completed' || stage === 'yielded'),
      visits: [],
    })
  }

  #meet(call: SeenCall, { actor, seq }: FrameOf<'call'>): void {
    this.#reaches(call)
    // the phase in which a late recorder found it
    const found = this.#state.isPicture ? this.#statesOf(actor).phase : ''
    if (isPhase(found)) call.visits.push({ phase: found, from: this.#now, fromSeq: seq })
  }

  #reaches(call: SeenCall): void {
    const { stage } = call
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
    const why = waitOf({ waits: this.#waitsAtRest }, call.index)
    if (why === undefined) return
    const { because, blockers, key } = why
    call.waitedFor = { because, blockers, ...(key !== undefined && { key }) }
  }

  #statesOf(id: string): ActiveStates {
    const { charts, actors } = this.#state
    const actor = actors.get(id)
    return activeStates(charts.get(actor?.chart ?? ''), actor?.active ?? [])
  }
}

/** A message that is sent, and a note of the host, may be told under a turn that is over. */
const isOfModel = (frame: Frame): boolean =>
  frame.type === 'reply' || (frame.type === 'said' && (frame.by === 'model' || frame.by === 'thought'))

const isPhase = (state: string): state is Phase => callPhases.includes(state as Phase)
