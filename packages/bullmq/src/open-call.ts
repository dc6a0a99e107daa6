import { type BodyOutcome, type RemoteCall, type RemoteResult, settleOutcome } from 'signalbox/remote'
import type { Engine } from './bull-runner.ts'
import type { NumberedProgress, ToolAnswer } from './engine.ts'
import { aboutOutcome, aboutProgress } from './seal.ts'

/** How long the news of a stopped body may take, after its grace period. The executor waits a little longer. */
const newsMs = 4_000
const stoppedWaiting = 'it was stopped before a worker took it.'
/** Looks without a lock before a worker counts as lost. */
const maxUnlockedLooks = 3
/** The first look of a host that has not seen an event yet: perhaps it began to listen too late. */
const firstLookMs = 50
/** The parts of a job that tell its state: it was added, started, stopped or finished. */
const fields = ['name', 'ats', 'stopped', 'finishedOn', 'returnvalue', 'failedReason', 'progress', 'pb']

/** One call of this host, until its job has an outcome. */
export class OpenCall {
  readonly #engine: Engine
  readonly #call: RemoteCall
  readonly #id: string
  readonly #outcome: Promise<BodyOutcome>
  readonly #timers = new Set<ReturnType<typeof setTimeout>>()
  #settle: (outcome: BodyOutcome) => void = () => undefined
  #isOver = false
  #isLooking = false
  #looksAgain = false
  #isSent = false
  #sending: Promise<void> | undefined
  #isLookPlanned = false
  #worker: string | undefined
  #isLost = false
  #waiting: number | undefined
  #waitsAgain = false
  #hasBeenAddedAgain = false
  #seen = 0
  #unlocked = 0

  constructor(engine: Engine, call: RemoteCall, id: string) {
    this.#engine = engine
    this.#call = call
    this.#id = id
    this.#outcome = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  async result(): Promise<RemoteResult> {
    const { signal } = this.#call
    const stop = (): void => (signal.reason === 'suspend' ? this.#leave() : this.#stop())
    signal.addEventListener('abort', stop, { once: true })
    try {
      if (signal.aborted) this.#end({ status: 'notRun', because: 'it was stopped before it was sent.' })
      else this.#sending = this.#send()
      return settleOutcome(await this.#outcome)
    } finally {
      this.#isOver = true
      signal.removeEventListener('abort', stop)
      for (const timer of this.#timers) clearTimeout(timer)
    }
  }

  lose(because: string): void {
    this.#end({ status: 'unknown', because })
  }

  progress(report: unknown): void {
    const { n, data } = (report ?? {}) as Partial<NumberedProgress>
    if (this.#isOver || typeof n !== 'number' || n <= this.#seen) return
    this.#seen = n
    const { envelope } = this.#engine
    if (!envelope.isSealing) return this.#call.onProgress(data)
    envelope.unpack(data, aboutProgress(this.#id, n)).then(
      (opened) => void (this.#isOver || this.#call.onProgress(opened)),
      // from somebody else
      () => undefined,
    )
  }

  /** The job has ended, and this is what its worker returned. */
  async complete(value: unknown): Promise<void> {
    if (this.#isOver) return
    try {
      const answer = await this.#engine.envelope.unpack(value, aboutOutcome(this.#id))
      const { outcome, worker } = answerIn(answer)
      if (outcome.status === 'unknown') this.#tellLost()
      else this.#take(worker)
      this.#end(outcome)
    } catch (error) {
      this.lose(`Its outcome cannot be opened: ${error instanceof Error ? error.message : error}`)
    }
  }

  /** The job has ended without an outcome. */
  fail(because: string): void {
    this.#tellLost()
    this.lose(because || 'The worker was lost.')
  }

  /** Looks once within that time, however often it is asked. */
  lookIn(ms: number): void {
    if (this.#isLookPlanned) return
    this.#isLookPlanned = true
    this.#after(ms, () => {
      this.#isLookPlanned = false
      this.look()
    })
  }

  /** Reads the job. One look at a time; a hint that comes meanwhile, or before the job is there, leads to one more. */
  look(): void {
    if (this.#isOver) return
    if (this.#isLooking || !this.#isSent) {
      this.#looksAgain = true
      return
    }
    this.#isLooking = true
    this.#looksAgain = false
    this.#see()
      // Redis is away or answered nonsense: the next look will tell
      .catch(() => undefined)
      .finally(() => {
        this.#isLooking = false
        if (this.#looksAgain) this.look()
      })
  }

  async #send(): Promise<void> {
    const { attach, again, signal } = this.#call
    try {
      if (!attach || again) await this.#engine.add(this.#call)
    } catch (error) {
      // Redis refused it, or answered after the job was added
      return this.lose(`The call could not be sent: ${error instanceof Error ? error.message : error}`)
    }
    if (this.#isOver) return
    this.#isSent = true
    this.#call.onPlace({ place: 'sent' })
    this.#after(this.#engine.pickupMs, () => void this.#giveUpWaiting())
    this.#lookEverySoOften(this.#engine.hasEvents ? this.#engine.lookMs : firstLookMs)
    if (attach || this.#looksAgain) this.look()
    // it was stopped while it was being sent
    if (signal.aborted && signal.reason !== 'suspend')
      this.#remove(stoppedWaiting, reasonOf(signal)).catch(() => undefined)
  }

  #lookEverySoOften(ms: number): void {
    const { lookMs } = this.#engine
    this.#after(Math.min(ms, lookMs), () => {
      this.look()
      this.#lookEverySoOften(ms * 2)
    })
  }

  /** Reads state and value in one command: a job that ends in between would seem to have no result. */
  async #see(): Promise<void> {
    const { queue, redis } = this.#engine
    const key = queue.toKey(this.#id)
    const [found, isLocked] = await Promise.all([redis.hmget(key, ...fields), redis.exists(`${key}:lock`)])
    const [name, starts, stopped, finishedOn, value, failedReason, progress, worker] = found
    if (this.#isOver) return
    if (typeof name !== 'string') {
      if (typeof stopped === 'string') return this.#end({ status: 'notRun', because: stoppedWaiting })
      return this.#gone()
    }
    if (typeof starts !== 'string' || starts === '0') return this.#tellDepth()
    this.progress(JSON.parse(progress ?? 'null'))
    if (typeof finishedOn === 'string') {
      if (typeof value === 'string') return this.complete(JSON.parse(value))
      return this.fail(failedReason ?? '')
    }
    if (isLocked === 1) {
      this.#waitsAgain = false
      this.#unlocked = 0
      this.#take(worker ?? undefined)
    } else await this.#checkLost(worker ?? undefined)
  }

  /** Workers notice a lost worker among them. This host notices if it was the last one. */
  async #checkLost(worker: string | undefined): Promise<void> {
    const { queue, lookMs, pickupMs } = this.#engine
    // the job may have ended between the two reads
    if (++this.#unlocked < 2) return
    this.#worker ??= worker
    this.#tellLost()
    // hints may come quickly one after the other
    if (this.#unlocked < maxUnlockedLooks || lookMs === 0) return
    // other workers may run it once more; perhaps there are none
    if (this.#call.again && this.#unlocked * lookMs < pickupMs) return
    if ((await queue.getJobState(this.#id)) === 'active') this.lose('The worker was lost.')
  }

  #gone(): void {
    if (!this.#call.again || this.#hasBeenAddedAgain) return this.lose('Its job is gone.')
    this.#hasBeenAddedAgain = true
    // another job: nobody has taken it, and its reports come after those of the first
    this.#worker = undefined
    this.#isLost = false
    this.#call.onPlace({ place: 'sent' })
    this.#engine.add(this.#call, 'again').catch(() => undefined)
  }

  async #tellDepth(): Promise<void> {
    const waiting = await this.#engine.waiting()
    if (this.#isOver || this.#worker !== undefined || waiting === this.#waiting) return
    this.#waiting = waiting
    this.#call.onPlace({ place: 'sent', waiting })
  }

  #take(worker: string | undefined): void {
    if (worker === undefined || (this.#worker === worker && !this.#isLost)) return
    this.#worker = worker
    this.#isLost = false
    this.#call.onPlace({ place: 'remote', worker })
  }

  #tellLost(): void {
    if (this.#worker === undefined || this.#isLost) return
    this.#isLost = true
    this.#call.onPlace({ place: 'lost', worker: this.#worker })
  }

  /** The session goes on in another life, or has another owner already: the job is theirs. */
  #leave(): void {
    const left = (): void => this.lose('The session was suspended.')
    this.#after(newsMs, left)
    // a job that is still being sent must be there for whoever attaches to it
    void this.#sending?.then(left)
  }

  #stop(): void {
    const { abortGraceMs, signal } = this.#call
    this.#after(abortGraceMs + newsMs, () => this.lose('Nobody said whether the body has stopped.'))
    this.#remove(stoppedWaiting, reasonOf(signal)).catch(() => undefined)
  }

  /** Goes on trying: a job that was taken waits again when its worker is lost, and perhaps nobody is left to take it. */
  async #giveUpWaiting(): Promise<void> {
    const { pickupMs, lookMs, queue } = this.#engine
    try {
      // it may wait again only since a moment ago
      if (this.#worker !== undefined && !this.#waitsAgain)
        this.#waitsAgain = (await queue.getJobState(this.#id)) === 'waiting'
      else await this.#remove(`no worker took it within ${pickupMs} ms.`)
    } catch {
      // Redis is away: the next try will tell
    }
    this.#after(Math.max(pickupMs, lookMs), () => void this.#giveUpWaiting())
  }

  /** With a reason, a body that runs is told to stop. */
  async #remove(because: string, reason?: string): Promise<void> {
    const told = await this.#engine.removeWaiting(this.#id, reason)
    if (told === 'removed') this.#end({ status: 'notRun', because })
    else if (told === 'lost') this.lose('Its worker was lost.')
    else if (told === 'taken') this.look()
    // one that is still being sent asks again afterwards
    else if (this.#isSent) this.lose('Its job is gone.')
  }

  #end(outcome: BodyOutcome): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#settle(outcome)
  }

  /** Never, if it is a time that timers do not support. */
  #after(ms: number, then: () => void): void {
    if (ms >= 2 ** 31) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      if (!this.#isOver) then()
    }, ms)
    this.#timers.add(timer)
  }
}

const reasonOf = ({ reason }: AbortSignal): string => (typeof reason === 'string' && reason !== '' ? reason : 'abort')

function answerIn(value: unknown): { outcome: BodyOutcome; worker: string | undefined } {
  const { outcome, worker } = (value ?? {}) as Partial<ToolAnswer>
  if (typeof outcome?.status === 'string' && ['returned', 'threw', 'notRun', 'unknown'].includes(outcome.status))
    return { outcome, worker: typeof worker === 'string' ? worker : undefined }
  return { outcome: { status: 'unknown', because: 'The worker sent no outcome.' }, worker: undefined }
}
