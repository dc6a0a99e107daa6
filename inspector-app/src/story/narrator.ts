import type { Frame, FrameOf } from '../../../src/inspect/index.ts'
import { type Call, emptyModel, type Run } from '../model/model.ts'
import { applyFrame } from '../model/reduce.ts'
import { tellAborts, tellAttempts, tellDecisions, tellQuestions } from './tell-causes.ts'
import { tellBackground, tellEnd, tellLocks, tellPlace, tellRecovered, tellReply } from './tell-loop.ts'
import { type Start, tellEndings, tellHeld, tellStarts, tellWaits, tellYields } from './tell-schedule.ts'

/** A sentence about what happened, and the code of its rule in the contract. */
export interface Told {
  readonly at: number
  readonly seq: number
  readonly run: number
  /** The call that it is about, if it is about one. */
  readonly call: string | undefined
  readonly text: string
  /** Undefined if it says what cannot be told. */
  readonly rule: string | undefined
}

export type Say = (rule: string, text: string, call?: Call) => void

/** The parts of a run that the story has already told. */
export interface Telling {
  aborts: number
  questions: ReadonlySet<string>
  /** Handed over, but their results have not been seen yet. */
  yielding: readonly Call[]
  /** All calls before it were handed over and told. */
  cursor: number
  isDiscarded: boolean
}

interface Seen {
  stage: Call['stage'] | undefined
  /** A call whose permission was asked for can be back in the queue before its body starts. */
  started: 'no' | 'yes' | 'waitsAgain'
  isOver: boolean
  wait: string
  decision: unknown
  failures: number
}

/** Sentences that are kept: those about a day of traffic would fill the memory. */
export const maxTold = 5_000

/** Most frames are events, guards and steps, which change nothing that is told. */
const news: ReadonlySet<Frame['type']> = new Set([
  ...(['run', 'call', 'schedule', 'decision', 'attempt'] as const),
  ...(['ending', 'abort', 'questions', 'result', 'left'] as const),
])

const lostWords: Readonly<Record<string, string>> = {
  slow: ': this page was too slow',
  trimmed: ' and no longer kept',
  recorder: ': the recorder failed',
  truncated: ': the recording ends in the middle of it',
}

/** Turns frames into sentences. Frames with the same time are grouped. */
export class Narrator {
  told: Told[] = []
  /** How many earlier sentences are no longer kept. */
  forgotten = 0
  readonly #model = emptyModel()
  readonly #seen = new WeakMap<Call, Seen>()
  readonly #tellings = new Map<number, Telling>()
  readonly #touched = new Set<number>()
  #last: Frame | undefined
  /** The frames after a gap that repeat the state, all with the gap's number. */
  #opening: { readonly seq: number; readonly runs: Set<number> } | undefined
  /** Whether the run that was forgotten last was discarded. */
  #isLastDiscarded = false
  /** The last status of each background call. */
  readonly #background = new Map<string, string>()

  take(frames: Iterable<Frame>): void {
    for (const frame of frames) this.see(frame)
    this.tell()
  }

  /** Call `tell` after the last frame. */
  see(frame: Frame): void {
    if (this.#opening !== undefined && frame.seq > this.#opening.seq) this.#endOpening(this.#opening.runs)
    if (this.#last !== undefined && frame.at !== this.#last.at) this.tell()
    applyFrame(this.#model, frame)
    if (frame.type === 'gap') this.#lose(frame)
    else if (this.#opening !== undefined) this.#opening.runs.add(frame.run)
    else if (news.has(frame.type) || this.#model.runs.get(frame.run)?.isDiscarded === true) this.#touched.add(frame.run)
    this.#last = frame
    const run = this.#opening === undefined ? this.#model.runs.get(frame.run) : undefined
    if (run !== undefined) this.#tellFrame(run, frame)
  }

  /** Tells the sentences that need one frame only. */
  #tellFrame(run: Run, frame: Frame): void {
    const say = this.#sayOf(run, frame)
    if (frame.type === 'reply') tellReply(run, frame, say)
    else if (frame.type === 'background') tellBackground(run, frame, this.#background, say)
    else if (frame.type === 'locks') tellLocks(run, frame, say)
    else if (frame.type === 'place') tellPlace(run, frame, say)
    else if (frame.type === 'run') tellRecovered(run, say)
    else if (frame.type === 'step' && frame.isDone === true) tellEnd(run, frame, say)
  }

  #sayOf({ id }: Run, { at, seq }: Frame): Say {
    return (rule, text, call) => void this.told.push({ at, seq, run: id, call: call?.id, rule, text })
  }

  tell(): void {
    for (const id of this.#touched) {
      const run = this.#model.runs.get(id)
      if (run !== undefined) this.#tellRun(run, this.#last as Frame)
      // its calls change no more
      if (run?.isWatched === false) this.#forget(id)
    }
    this.#touched.clear()
    if (this.told.length <= maxTold * 1.2) return
    this.forgotten += this.told.length - maxTold
    this.told = this.told.slice(-maxTold)
  }

  /** Frames are missing. If the state after them follows, it is known from then on, but not news. */
  #lose({ at, seq, because, lost }: FrameOf<'gap'>): void {
    this.tell()
    const frames = lost === 1 ? 'One frame is' : `${lost.toLocaleString('en')} frames are`
    const text = `${frames} missing here${lostWords[because] ?? ''}.`
    this.told.push({ at, seq, run: 0, call: undefined, rule: undefined, text })
    if (because === 'slow' || because === 'trimmed') this.#opening = { seq, runs: new Set() }
  }

  #endOpening(runs: ReadonlySet<number>): void {
    this.#opening = undefined
    this.#tellings.clear()
    for (const run of this.#model.runs.values()) {
      if (runs.has(run.id)) this.#tellRun(run, this.#last as Frame, () => undefined)
      else this.#model.runs.delete(run.id)
    }
  }

  #tellRun(run: Run, frame: Frame, say = this.#sayOf(run, frame)): void {
    const telling = this.#tellings.get(run.id) ?? this.#begin(run, say)
    tellAborts(run, telling, say)
    const changed = run.calls.slice(telling.cursor).filter((call) => this.#isNews(call, say))
    tellEndings(
      changed.filter((call) => this.#isJustOver(call)),
      say,
    )
    const starts = changed.flatMap((call) => this.#startOf(call) ?? [])
    tellStarts(run, starts, say)
    tellWaits(run, changed, say)
    tellHeld(run, changed, say)
    tellYields(run, telling, changed, say)
    tellQuestions(run, telling, say)
    telling.cursor = run.cursor.next
    telling.isDiscarded = run.isDiscarded
  }

  #forget(id: number): void {
    this.#isLastDiscarded = this.#tellings.get(id)?.isDiscarded === true
    this.#model.runs.delete(id)
    this.#tellings.delete(id)
  }

  #begin({ id, parentToolUseID }: Run, say: Say): Telling {
    const isAfterDiscard = [...this.#tellings.values()].at(-1)?.isDiscarded ?? this.#isLastDiscarded
    if (isAfterDiscard && parentToolUseID === undefined) say('L5', 'Another model starts over in a new run.')
    const telling: Telling = { aborts: 0, questions: new Set(), yielding: [], cursor: 0, isDiscarded: false }
    this.#tellings.set(id, telling)
    return telling
  }

  /** Whether the schedule has news of the call. Its decisions and failed attempts are told at once. */
  #isNews(call: Call, say: Say): boolean {
    const wait = call.wait === undefined ? '' : `${call.wait.because} ${call.wait.blockers.join()}`
    const { stage, decision, failures } = call
    const seen = this.#seen.get(call) ?? nothingSeen
    if (decision !== seen.decision) tellDecisions(call, say)
    if (failures.length > seen.failures) tellAttempts(call, failures.slice(seen.failures), say)
    this.#seen.set(call, { ...seen, stage, wait, decision, failures: failures.length })
    return seen.stage !== stage || seen.wait !== wait
  }

  /** Undefined if the call does not start, or goes on without having waited. */
  #startOf(call: Call): Start | undefined {
    const seen = this.#seen.get(call)
    if (seen === undefined) return undefined
    const before = seen.started
    if (call.stage === 'executing') seen.started = 'yes'
    else if (before === 'yes' && call.wait !== undefined) seen.started = 'waitsAgain'
    if (call.stage !== 'executing' || before === 'yes') return undefined
    return { call, verb: before === 'no' ? 'starts' : 'goes on' }
  }

  /** Once per call: completed and handed over are two stages. */
  #isJustOver(call: Call): boolean {
    const seen = this.#seen.get(call)
    if (seen === undefined || seen.isOver || (call.stage !== 'completed' && call.stage !== 'yielded')) return false
    seen.isOver = true
    return true
  }
}

const nothingSeen: Seen = { stage: undefined, started: 'no', isOver: false, wait: '', decision: undefined, failures: 0 }
