import type { AnyActorRef } from 'xstate'
import {
  type BodyEnd,
  type CallEvent,
  type CallPort,
  type CallRecord,
  type CallStage,
  type Ending,
  isSameKeys,
  type Reclassification,
  type ResourceKeys,
} from '../../../machines/index.ts'
import type { Agenda } from './agenda.ts'
import { eventOf, usualAnswers } from './scripted-answer.ts'
import type { Answer, Phase, SeenCall, Visit, Way } from './seen-call.ts'

/** How much longer a body that begins now takes, in microseconds; `Infinity`: it does not end. */
export type BodyBy = (visit: Visit, now: number) => number

export interface ScriptedRun {
  readonly agenda: Agenda
  /** The duration of a phase that does not end in the recording, in microseconds; undefined: until it is aborted. */
  readonly unseen: number | undefined
  readonly bodyBy: BodyBy
  readonly hasPlace: boolean
  mustQueueAgain(call: CallRecord, change: Reclassification): boolean
  stopTurn(reason: string): void
  deliver(actor: AnyActorRef, event: CallEvent): void
}

/** What is different from the recording. Absent parts are as recorded. */
export interface CallChange {
  readonly isSafe?: boolean | undefined
  readonly keys?: ResourceKeys | undefined
  /** How long its body runs until it goes to the background, in microseconds; `Infinity`: it never does. */
  readonly detachAfter?: number | undefined
  /** A limit forbids it: it is answered without running. */
  readonly isRefused?: boolean | undefined
}

/** A call whose phases answer as in the recording: the same answers, after the same durations. */
export class ScriptedCall implements CallRecord, CallPort {
  readonly id: string
  readonly name: string
  readonly yieldsToInterrupt: boolean
  readonly isAnswered: boolean
  readonly isRecorded: boolean
  /** A rerun has no log to wait for. */
  readonly needsRecording = false
  readonly isDurable = true
  readonly seen: SeenCall
  /** The recording says whether permission was checked again. */
  readonly mayBeForbidden = true
  unread = 1
  isSafe: boolean
  keys: ResourceKeys | undefined
  /** Its class when added; a changed input can make it unsafe. */
  readonly wasSafe: boolean
  index = -1
  stage: CallStage
  hasStarted = false
  ref: AnyActorRef | undefined
  ending: Ending | undefined
  /** Its fate in this rerun. */
  readonly way: Way = { addedAt: 0, visits: [] }
  readonly #run: ScriptedRun
  readonly #change: CallChange
  /** The recorded visits that are not used yet, by phase. */
  readonly #toCome = new Map<Phase, Visit[]>()
  #visit: Visit | undefined
  #phase: Phase = 'validating'
  /** When its first body began. */
  #bodyFrom = -1
  #stays = 0

  constructor(run: ScriptedRun, seen: SeenCall, change: CallChange) {
    this.#run = run
    this.seen = seen
    this.id = seen.id
    this.name = seen.name
    this.yieldsToInterrupt = seen.stopsAtInterrupt
    this.isRecorded = seen.ending?.by === 'journal'
    this.isAnswered = seen.wasOver || this.isRecorded || seen.ending?.by === 'answer' || change.isRefused === true
    this.#change = change
    this.wasSafe = change.isSafe ?? seen.isSafe
    this.isSafe = this.wasSafe
    this.keys = change.keys ?? (change.isSafe === undefined ? seen.firstKeys : undefined)
    this.stage = seen.isHeld ? 'held' : 'queued'
  }

  get hasBegun(): boolean {
    return this.way.visits.some(({ phase }) => phase === 'calling')
  }

  get port(): CallPort {
    return this
  }

  get needsRecovery(): boolean {
    return this.#isDue('recovering')
  }

  get needsLocking(): boolean {
    return this.#isDue('locking')
  }

  get needsJournaling(): boolean {
    return this.#isDue('journaling')
  }

  get needsValidation(): boolean {
    return this.#isDue('validating')
  }

  get needsPreHooks(): boolean {
    return this.#isDue('preHooks')
  }

  get needsDeciding(): boolean {
    return this.#isDue('deciding')
  }

  get needsAsking(): boolean {
    return this.#isDue('asking')
  }

  get hasPlace(): boolean {
    return this.#run.hasPlace
  }

  mustQueueAgain(change: Reclassification): boolean {
    return this.#run.mustQueueAgain(this, change)
  }

  readonly canDetach = true

  get needsPostHooks(): boolean {
    return this.#isDue('postHooks')
  }

  recover = (): void => this.#enter('recovering')
  takeLocks = (): void => this.#enter('locking')
  journalStart = (): void => this.#enter('journaling')
  validate = (): void => this.#enter('validating')
  runPreHooks = (): void => this.#enter('preHooks')
  decide = (): void => this.#enter('deciding')
  askHost = (): void => this.#enter('asking')
  awaitAnswer = (): void => this.#enter('later')
  callTool = (): void => this.#enter('calling')
  startBackoff = (): void => this.#enter('retrying')
  startGrace = (): void => this.#enter('stopping')
  runPostHooks = (): void => this.#enter('postHooks')
  formatResult = (): void => this.#enter('formatting')

  /** Makes the answer due now, or with the recorded delay after the request to hurry. */
  hurry(): void {
    const { to, toldAt, answer } = this.#visit ?? {}
    const isKnown = to !== undefined && toldAt !== undefined
    this.#answer(isKnown ? to - toldAt : 0, answer ?? usualAnswers[this.#phase])
  }

  recordResult(): void {}
  detach(): void {
    const { now } = this.#run.agenda
    const bodies = this.seen.visits.filter(({ phase }) => phase === 'calling')
    const [first, last] = [bodies[0], bodies.at(-1)]
    const isKnown = first !== undefined && last?.to !== undefined && last.answer?.event !== 'call.detach'
    const length = isKnown
      ? (last.to as number) - first.from + this.#run.bodyBy(last, this.#bodyFrom + last.from - first.from)
      : Number.POSITIVE_INFINITY
    const endsAt = this.#bodyFrom + length
    this.way.background = { from: now, ...(Number.isFinite(endsAt) && { to: Math.max(now, endsAt) }) }
  }

  stop(): void {}
  abandon(): void {}

  conclude(ending: Ending): void {
    this.leave()
    this.ending = ending
    const abort = ending.by === 'abort' ? ending : undefined
    this.way.ending = { by: ending.by, kind: abort?.cause.kind ?? null, reached: abort?.reached ?? null }
  }

  /** Cancels the pending answer. */
  leave(): void {
    this.#stays++
    const stay = this.way.visits.at(-1)
    if (stay !== undefined) stay.to ??= this.#run.agenda.now
  }

  #isDue(phase: Phase): boolean {
    return this.#stillToCome(phase).length > 0
  }

  /** In reverse order, so that `pop` takes the next one. */
  #stillToCome(phase: Phase): Visit[] {
    const found = this.#toCome.get(phase) ?? this.seen.visits.filter((visit) => visit.phase === phase).reverse()
    this.#toCome.set(phase, found)
    return found
  }

  #enter(phase: Phase): void {
    const visit = this.#stillToCome(phase).pop()
    this.leave()
    this.way.visits.push({ phase, from: this.#run.agenda.now })
    this.#phase = phase
    this.#visit = visit
    const { after, answer } = this.#outlook(phase, visit)
    if (after !== undefined) this.#answer(after, answer)
    if (phase === 'calling') {
      this.#startDetach()
      if (visit?.moves !== undefined) this.#moveAsIn(visit, visit.moves)
    }
    // a question that was answered at once did not wait for a person
    if (phase === 'asking' && after !== 0)
      this.#run.agenda.add(this.#run.agenda.now, answer.seq, () => this.#send({ type: 'permission.pending' }))
    if (visit?.stopsTurn !== undefined) this.#stopTurnAfter(visit.stopsTurn.at - visit.from, visit.stopsTurn)
  }

  /** The delay counts from the first body: attempts and pauses between them are part of it. */
  #startDetach(): void {
    const { detachAfter } = this.#change
    const { agenda } = this.#run
    if (this.#bodyFrom < 0) this.#bodyFrom = agenda.now
    if (detachAfter === undefined || detachAfter === Number.POSITIVE_INFINITY) return
    const stay = this.way.visits.at(-1)
    // a body that ends at the same time does not go to the background
    agenda.add(this.#bodyFrom + detachAfter, Number.POSITIVE_INFINITY, () => {
      if (stay === this.way.visits.at(-1) && stay?.to === undefined) this.#send(toBackground)
    })
  }

  #moveAsIn({ from }: Visit, moves: NonNullable<Visit['moves']>): void {
    const stay = this.way.visits.at(-1)
    const { agenda } = this.#run
    for (const { at, seq, event } of moves) {
      agenda.add(agenda.now + at - from, seq, () => {
        if (stay === this.way.visits.at(-1) && stay?.to === undefined) this.#send({ type: event })
      })
    }
  }

  /** The duration of the phase, and its answer. */
  #outlook(phase: Phase, visit: Visit | undefined): { after: number | undefined; answer: Answer } {
    const { from = 0, to, toldAt, answer } = visit ?? {}
    const usual = usualAnswers[phase]
    // how long its body took in the background is not in the recording
    if (answer?.event === 'call.detach' && this.#change.detachAfter !== undefined)
      return { after: this.#run.unseen && Math.max(this.#run.unseen, (to ?? from) - from), answer: usual }
    // a phase that was told to hurry ended early; its full duration is unknown
    const isWhole = toldAt === undefined || phase === 'stopping'
    if (answer !== undefined && to !== undefined && isWhole) {
      // a timeout, and the way to the background, come at their time, however long an agent takes
      const isBody = phase === 'calling' && answer.event === 'tool.settled'
      const by = visit === undefined || !isBody ? 0 : this.#run.bodyBy(visit, this.#run.agenda.now)
      return { after: Number.isFinite(by) ? Math.max(0, to - from + by) : undefined, answer }
    }
    if (phase === 'stopping') return { after: 0, answer: usual }
    const end = phase === 'calling' ? this.#finishedAt(visit) : undefined
    if (end !== undefined) return { after: end - from, answer: usual }
    const { unseen } = this.#run
    const seen = (toldAt ?? to ?? from) - from
    return { after: unseen === undefined ? undefined : Math.max(seen, unseen), answer: answer ?? usual }
  }

  /** A body that finished although it was aborted shows its full duration. */
  #finishedAt(visit: Visit | undefined): number | undefined {
    if (visit === undefined || !isBodyEnd(this.seen.ending?.reached)) return undefined
    const stop = this.seen.visits[this.seen.visits.indexOf(visit) + 1]
    return stop?.phase === 'stopping' ? stop.to : undefined
  }

  #answer(after: number, answer: Answer): void {
    const stay = ++this.#stays
    const { agenda } = this.#run
    agenda.add(agenda.now + after, answer.seq, () => {
      if (stay === this.#stays) this.#tell(answer)
    })
  }

  #tell(answer: Answer): void {
    const reached = this.seen.ending?.reached
    const isTold = isBodyEnd(reached) || reached === 'notStarted'
    const end = this.#phase !== 'stopping' ? 'returned' : isTold ? reached : 'failed'
    const event = eventOf({ answer, label: this.seen.label, change: this.#reclassified(), end })
    if (event !== undefined) this.#send(event)
  }

  /** The effect of a changed input on the call. */
  #reclassified(): Reclassification | undefined {
    const { isSafe, keys, lane } = this.seen
    if (this.#change.isSafe !== undefined || this.#change.keys !== undefined) return undefined
    if (keys !== undefined) return isSameKeys(keys, this.keys) ? undefined : { isSafe: lane === 'shared', keys }
    return this.isSafe && isSafe && lane === 'exclusive' ? { isSafe: false, keys } : undefined
  }

  #stopTurnAfter(after: number, { seq, reason }: { seq: number; reason: string }): void {
    const stay = this.#stays
    const { agenda } = this.#run
    agenda.add(agenda.now + after, seq, () => {
      if (stay !== this.#stays) return
      this.#run.stopTurn(reason)
      this.#send({ type: 'call.abort', cause: { kind: 'user_interrupted', reason } })
    })
  }

  #send(event: CallEvent): void {
    const { ref } = this
    if (ref?.getSnapshot().status === 'active') this.#run.deliver(ref, event)
  }
}

const toBackground = { type: 'call.detach', how: { isAwaited: true, onEnd: 'stop' } } as const

const isBodyEnd = (reached: string | null | undefined): reached is Exclude<BodyEnd, 'failed' | 'notStarted'> =>
  reached === 'finished' || reached === 'cutShort' || reached === 'returned'
