/** The clock of a recording: has its own speed and can be paused. */
export class Playback {
  readonly #speed: number
  readonly #maxPause: number
  #at = 0
  #since = performance.now()
  #isPaused = false
  #isOver = false
  #wake: (() => void) | undefined

  /** @param speed 2 is twice as fast, 0 is instant; @param maxPause the longest pause that is played, in ms */
  constructor(speed: number, maxPause: number) {
    this.#speed = speed
    this.#maxPause = maxPause
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Milliseconds on the clock of the frames. */
  now(): number {
    return this.#isPaused ? this.#at : this.#at + (performance.now() - this.#since) * this.#speed
  }

  toggle(): void {
    this.#set(this.now())
    this.#isPaused = !this.#isPaused
    this.#wake?.()
  }

  /** Releases all waiters. */
  end(): void {
    this.#isOver = true
    this.#wake?.()
  }

  /** Waits until the recording reaches this time. */
  async until(at: number): Promise<void> {
    if (this.#speed === 0) return this.#set(at)
    if (at - this.now() > this.#maxPause) this.#set(at - this.#maxPause)
    while (!this.#isOver && (this.#isPaused || this.now() < at)) {
      const left = this.#isPaused ? undefined : (at - this.now()) / this.#speed
      await new Promise<void>((resolve) => {
        const timer = left === undefined ? undefined : setTimeout(resolve, left)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  #set(at: number): void {
    this.#at = at
    this.#since = performance.now()
  }
}
