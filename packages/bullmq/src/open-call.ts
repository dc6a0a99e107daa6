import { type BodyOutcome, type RemoteCall, type RemoteResult, settleOutcome } from 'signalbox/remote'
import type { Engine } from './bull-runner.ts'
import { abortChannel, markerOf, type NumberedProgress, retentionSeconds } from './engine.ts'
import { aboutOutcome, aboutProgress } from './seal.ts'

/** How long the news of a stopped body may take, after its grace period. The executor waits a little longer. */
const newsMs = 4_000
const stoppedWaiting = 'it was stopped before a worker took it.'
/** Looks without a lock before a worker counts as lost. */
const maxUnlockedLooks = 3

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
  #isTaken = false
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
    const stop = (): void => this.#stop()
    signal.addEventListener('abort', stop, { once: true })
    try {
      if (signal.aborted) this.#end({ status: 'notRun', because: 'it was stopped before it was sent.' })
      else void this.#send()
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

  /** Reads the job. One look at a time; a hint that comes meanwhile leads to one more. */
  look(): void {
    if (this.#isOver || !this.#isSent) return
    if (this.#isLooking) {
      this.#looksAgain = true
      return
    }
    this.#isLooking = true
    this.#see()
      // Redis is away or answered nonsense: the next look will tell
      .catch(() => undefined)
      .finally(() => {
        this.#isLooking = false
        const again = this.#looksAgain
        this.#looksAgain = false
        if (again) this.look()
      })
  }

  async #send(): Promise<void> {
    const { attach, again } = this.#call
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
    this.#lookEverySoOften()
    // it was stopped while it was being sent
    if (this.#call.signal.aborted) this.#remove(stoppedWaiting).catch(() => undefined)
  }

  #lookEverySoOften(): void {
    this.look()
    this.#after(this.#engine.lookMs, () => this.#lookEverySoOften())
  }

  /** The state first, then the value: in the other order, a job that ends in between seems to have no result. */
  async #see(): Promise<void> {
    const { queue } = this.#engine
    const state = await queue.getJobState(this.#id)
    if (this.#isOver) return
    if (state === 'unknown') return this.#gone()
    if (state === 'active') this.#waitsAgain = false
    if (state !== 'active' && state !== 'completed' && state !== 'failed') return
    const job = await queue.getJob(this.#id)
    if (this.#isOver || job === undefined) return
    this.#take(job.processedBy)
    this.progress(job.progress)
    if (state === 'completed') return this.#open(job.returnvalue)
    if (state === 'failed') return this.lose(job.failedReason || 'The worker was lost.')
    if (state === 'active') await this.#checkLock()
  }

  async #open(value: unknown): Promise<void> {
    try {
      this.#end(outcomeIn(await this.#engine.envelope.unpack(value, aboutOutcome(this.#id))))
    } catch (error) {
      this.lose(`Its outcome cannot be opened: ${error instanceof Error ? error.message : error}`)
    }
  }

  /** Workers notice a lost worker among them. This host notices if it was the last one. */
  async #checkLock(): Promise<void> {
    const { redis, queue, lookMs, pickupMs } = this.#engine
    const isLocked = (await redis.exists(queue.toKey(`${this.#id}:lock`))) === 1
    this.#unlocked = isLocked ? 0 : this.#unlocked + 1
    // hints may come quickly one after the other
    if (this.#unlocked < maxUnlockedLooks || lookMs === 0) return
    // other workers may run it once more; perhaps there are none
    if (this.#call.again && this.#unlocked * lookMs < pickupMs) return
    if ((await queue.getJobState(this.#id)) === 'active') this.lose('The worker was lost.')
  }

  #gone(): void {
    if (!this.#call.again || this.#hasBeenAddedAgain) return this.lose('Its job is gone.')
    this.#hasBeenAddedAgain = true
    this.#engine.add(this.#call).catch(() => undefined)
  }

  #take(worker?: string): void {
    if (this.#isTaken || worker === undefined) return
    this.#isTaken = true
    this.#call.onPlace({ place: 'remote', worker })
  }

  /** The marker stays for workers that take the job later; the message is for one that has it now. */
  async #mark(): Promise<void> {
    const { redis, prefix, label } = this.#engine
    const reason = typeof this.#call.signal.reason === 'string' ? this.#call.signal.reason : 'abort'
    await redis.set(markerOf(prefix, label, this.#id), reason, 'EX', retentionSeconds)
    // a hint: workers look at the markers as well
    await redis.publish(abortChannel(prefix, label), JSON.stringify({ id: this.#id, reason })).catch(() => undefined)
  }

  #stop(): void {
    this.#after(this.#call.abortGraceMs + newsMs, () => this.lose('Nobody said whether the body has stopped.'))
    this.#remove(stoppedWaiting).catch(() => undefined)
  }

  /** Goes on trying: a job that was taken waits again when its worker is lost, and perhaps nobody is left to take it. */
  async #giveUpWaiting(): Promise<void> {
    const { pickupMs, lookMs, queue } = this.#engine
    try {
      // it may wait again only since a moment ago
      if (this.#isTaken && !this.#waitsAgain) this.#waitsAgain = (await queue.getJobState(this.#id)) === 'waiting'
      else await this.#remove(`no worker took it within ${pickupMs} ms.`, true)
    } catch {
      // Redis is away: the next try will tell
    }
    this.#after(Math.max(pickupMs, lookMs), () => void this.#giveUpWaiting())
  }

  async #remove(because: string, onlyIfWaiting = false): Promise<void> {
    if (!onlyIfWaiting) await this.#mark()
    const told = await this.#engine.removeWaiting(this.#id)
    if (told === 'removed') this.#end({ status: 'notRun', because })
    else if (told === 'lost') this.lose('Its worker was lost.')
    else this.look()
  }

  #end(outcome: BodyOutcome): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#settle(outcome)
  }

  #after(ms: number, then: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      if (!this.#isOver) then()
    }, ms)
    this.#timers.add(timer)
  }
}

function outcomeIn(value: unknown): BodyOutcome {
  const { status } = (value ?? {}) as Partial<BodyOutcome>
  if (status !== undefined && ['returned', 'threw', 'notRun', 'unknown'].includes(status)) return value as BodyOutcome
  return { status: 'unknown', because: 'The worker sent no outcome.' }
}
