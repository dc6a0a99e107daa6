/** The longest pause between two drawings of new frames, so that a page under load still looks alive. */
const maxPauseMs = 150

/** Draws at most once per animation frame. Drawing new frames takes at most a third of the time: the page must not fall behind. */
export class Painter {
  readonly #draw: () => void
  #isDue = false
  #isClosed = false
  readonly #timers = new Set<ReturnType<typeof setTimeout>>()
  #isWaiting = false
  /** The browser may do other tasks before the cost of the last drawing is known. */
  #isMeasuring = false
  #isWanted = false
  #notBefore = 0

  constructor(draw: () => void) {
    this.#draw = draw
  }

  /** For what a person did. */
  paint(): void {
    if (this.#isDue || this.#isClosed) return
    this.#isDue = true
    requestAnimationFrame((start) => this.#run(start))
  }

  /** For new frames. */
  paintSoon(): void {
    if (this.#isMeasuring) {
      this.#isWanted = true
      return
    }
    const pause = this.#notBefore - performance.now()
    if (pause <= 0) return this.paint()
    if (this.#isDue || this.#isWaiting) return
    this.#isWaiting = true
    this.#later(pause, () => {
      this.#isWaiting = false
      this.paint()
    })
  }

  close(): void {
    this.#isClosed = true
    for (const timer of this.#timers) clearTimeout(timer)
  }

  #run(start: number): void {
    this.#isDue = false
    if (this.#isClosed) return
    this.#draw()
    this.#isMeasuring = true
    // the browser renders before the next task
    this.#later(0, () => {
      const end = performance.now()
      this.#notBefore = end + Math.min(maxPauseMs, 2 * (end - start))
      this.#isMeasuring = false
      if (!this.#isWanted) return
      this.#isWanted = false
      this.paintSoon()
    })
  }

  #later(ms: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      run()
    }, ms)
    this.#timers.add(timer)
  }
}
