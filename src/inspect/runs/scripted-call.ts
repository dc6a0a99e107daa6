import type { AnyActorRef } from 'xstate'
import {
  type CallEvent,
  type CallPort,
  type CallRecord,
  type CallStage,
  type Ending,
  relayTo,
} from '../../../machines/index.ts'
import type { Agenda } from './agenda.ts'
import { eventOf, usualAnswers } from './scripted-answer.ts'
import type { Answer, Phase, SeenCall, Visit, Way } from './seen-call.ts'

export interface ScriptedRun {
  readonly agenda: Agenda
  /** How long a phase takes whose end the recording does not hold, in microseconds; undefined: until it is told to stop. */
  readonly unseen: number | undefined
  stopTurn(reason: string): void
}

/** A call whose world answers its chart as it did in the recording: the same words, after the same time. */
export class ScriptedCall implements CallRecord, CallPort {
  readonly id: string
  readonly name: string
  readonly yieldsToInterrupt: boolean
  readonly isAnswered: boolean
  readonly seen: SeenCall
  /** Whether it was decided once more, the recording says. */
  readonly mayBeForbidden = true
  unread = 1
  isSafe: boolean
  /** When it came; a changed input can take that away. */
  readonly wasSafe: boolean
  index = -1
  stage: CallStage
  hasStarted = false
  ref: AnyActorRef | undefined
  ending: Ending | undefined
  /** What becomes of it this time. */
  readonly way: Way = { addedAt: 0, visits: [] }
  readonly #run: ScriptedRun
  readonly #isMarked: boolean
  /** What is still to come of the recording, phase by phase. */
  readonly #toCome = new Map<Phase, Visit[]>()
  #visit: Visit | undefined
  #phase: Phase = 'validating'
  #stays = 0

  constructor(run: ScriptedRun, seen: SeenCall, mark: boolean | undefined) {
    this.#run = run
    this.seen = seen
    this.id = seen.id
    this.name = seen.name
    this.yieldsToInterrupt = seen.stopsAtInterrupt
    this.isAnswered = seen.wasOver || seen.ending?.by === 'answer'
    this.#isMarked = mark !== undefined
    this.wasSafe = mark ?? seen.isSafe
    this.isSafe = this.wasSafe
    this.stage = seen.isHeld ? 'held' : 'queued'
  }

  get port(): CallPort {
    return this
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

  get needsPostHooks(): boolean {
    return this.#isDue('postHooks')
  }

  validate = (): void => this.#enter('validating')
  runPreHooks = (): void => this.#enter('preHooks')
  decide = (): void => this.#enter('deciding')
  askHost = (): void => this.#enter('asking')
  callTool = (): void => this.#enter('calling')
  startBackoff = (): void => this.#enter('retrying')
  startGrace = (): void => this.#enter('stopping')
  runPostHooks = (): void => this.#enter('postHooks')
  formatResult = (): void => this.#enter('formatting')

  /** The answer is due at once, or as soon after the word as it was in the recording. */
  hurry(): void {
    const { to, toldAt, answer } = this.#visit ?? {}
    const isKnown = to !== undefined && toldAt !== undefined
    this.#answer(isKnown ? to - toldAt : 0, answer ?? usualAnswers[this.#phase])
  }

  stop(): void {}
  abandon(): void {}

  conclude(ending: Ending): void {
    this.leave()
    this.ending = ending
    const abort = ending.by === 'abort' ? ending : undefined
    this.way.ending = { by: ending.by, kind: abort?.cause.kind ?? null, reached: abort?.reached ?? null }
  }

  /** Whatever it was doing is over. */
  leave(): void {
    this.#stays++
    const stay = this.way.visits.at(-1)
    if (stay !== undefined) stay.to ??= this.#run.agenda.now
  }

  #isDue(phase: Phase): boolean {
    return this.#stillToCome(phase).length > 0
  }

  /** The last first, so that taking one costs nothing. */
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
    if (visit?.stopsTurn !== undefined) this.#stopTurnAfter(visit.stopsTurn.at - visit.from, visit.stopsTurn)
  }

  /** How long the phase takes, and what ends it. */
  #outlook(phase: Phase, visit: Visit | undefined): { after: number | undefined; answer: Answer } {
    const { from = 0, to, toldAt, answer } = visit ?? {}
    const usual = usualAnswers[phase]
    // one that was told to hurry ended early; how long it would have taken nobody knows
    const isWhole = toldAt === undefined || phase === 'stopping'
    if (answer !== undefined && to !== undefined && isWhole) return { after: to - from, answer }
    if (phase === 'stopping') return { after: 0, answer: usual }
    const end = phase === 'calling' ? this.#finishedAt(visit) : undefined
    if (end !== undefined) return { after: end - from, answer: usual }
    const { unseen } = this.#run
    const seen = (toldAt ?? to ?? from) - from
    return { after: unseen === undefined ? undefined : Math.max(seen, unseen), answer: answer ?? usual }
  }

  /** A body that came to its end though it was told to stop has shown how long it takes. */
  #finishedAt(visit: Visit | undefined): number | undefined {
    if (visit === undefined || this.seen.ending?.reached !== 'finished') return undefined
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
    const finished = this.#phase !== 'stopping' || this.seen.ending?.reached === 'finished'
    const mayBecomeUnsafe = this.isSafe && !this.#isMarked
    const event = eventOf({ answer, label: this.seen.label, mayBecomeUnsafe, finished })
    if (event !== undefined) this.#send(event)
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
    if (ref?.getSnapshot().status === 'active') relayTo(undefined, ref, event)
  }
}
