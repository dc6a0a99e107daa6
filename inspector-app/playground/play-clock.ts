import type { Clock } from 'signalbox'

interface Timer {
  readonly due: number
  readonly run: () => void
  /** Cosmetic: a step skips it. */
  readonly isMinor: boolean
}

/** A longer step would skip past what a person waits for. */
const farthestStepMs = 60_000

/**
 * A clock with adjustable speed and pause. Time moves only when a timer is due or a person acts, so that all effects of
 * one event have the same time.
 */
export class PlayClock implements Clock {
  readonly #timers = new Map<number, Timer>()
  #ids = 0
  #time = 0
  #readAt = performance.now()
  #speed: number
  #isPaused: boolean
  #handle: ReturnType<typeof setTimeout> | undefined

  constructor(speed = 1, isPaused = false) {
    this.#speed = speed
    this.#isPaused = isPaused
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  get speed(): number {
    return this.#speed
  }

  /** Whether a timer is pending that a step can reach. */
  get canStep(): boolean {
    const next = this.#next(true)
    return next !== undefined && next[1].due - this.#time < farthestStepMs
  }

  now(): number {
    return this.#time
  }

  /** The time for display; never past the next timer. */
  shown(): number {
    if (this.#isPaused) return this.#time
    const passed = this.#time + (performance.now() - this.#readAt) * this.#speed
    return Math.min(passed, this.#next()?.[1].due ?? passed)
  }

  setTimeout(run: () => void, ms: number): number {
    return this.#set(run, ms, false)
  }

  setMinorTimeout(run: () => void, ms: number): number {
    return this.#set(run, ms, true)
  }

  clearTimeout(id: unknown): void {
    this.#timers.delete(id as number)
  }

  /** Moves the time to now, before a person's action. */
  catchUp(): void {
    this.#time = this.shown()
    this.#readAt = performance.now()
  }

  change(to: { speed?: number; isPaused?: boolean }): void {
    this.catchUp()
    this.#speed = to.speed ?? this.#speed
    this.#isPaused = to.isPaused ?? this.#isPaused
    this.#wind()
  }

  /** Moves to the next timer. */
  step(): void {
    if (!this.canStep) return
    for (let isMinor = true; isMinor; ) {
      const next = this.#next()
      if (next === undefined) return
      isMinor = next[1].isMinor
      this.#run(...next)
    }
    this.#wind()
  }

  stop(): void {
    clearTimeout(this.#handle)
    this.#timers.clear()
  }

  #set(run: () => void, ms: number, isMinor: boolean): number {
    const id = ++this.#ids
    this.#timers.set(id, { due: this.#time + Math.max(0, ms), run, isMinor })
    this.#wind()
    return id
  }

  #next(isMajor = false): [number, Timer] | undefined {
    let first: [number, Timer] | undefined
    for (const entry of this.#timers) {
      if (isMajor && entry[1].isMinor) continue
      if (first === undefined || entry[1].due < first[1].due) first = entry
    }
    return first
  }

  #run(id: number, { due, run }: Timer): void {
    this.#timers.delete(id)
    this.#time = Math.max(this.#time, due)
    this.#readAt = performance.now()
    run()
  }

  /** One timer at a time, so that the effects of one come before the next. */
  #wind(): void {
    clearTimeout(this.#handle)
    const next = this.#next()
    if (this.#isPaused || next === undefined) return
    const left = (next[1].due - this.shown()) / this.#speed
    this.#handle = setTimeout(
      () => {
        const due = this.#next()
        if (due !== undefined && due[1].due <= this.shown()) this.#run(...due)
        this.#wind()
      },
      Math.max(0, left),
    )
  }
}
