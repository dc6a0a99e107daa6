/** The longest pause between two drawings of new frames, so that a page under load still looks alive. */
const maxPauseMs = 150
/** Each drawing also makes work that is done later, such as collecting what it leaves behind. */
const restPerDrawing = 4

/**
 * Resting, waiting for the end of a pause, due at the next animation frame, drawn but not yet measured (the browser may do
 * other tasks before the cost of the drawing is known), or closed.
 */
type Phase = 'resting' | 'pausing' | 'due' | 'measuring' | 'closed'

/** Draws at most once per animation frame. Drawing new frames takes at most a fifth of the time: the page must not fall behind. */
export class Painter {
  readonly #draw: () => void
  #phase: Phase = 'resting'
  /** New frames came while a drawing was measured. */
  #isBehind = false
  /** When the last drawing began. */
  #start = 0
  #notBefore = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(draw: () => void) {
    this.#draw = draw
  }

  /** For what a person did: never later than the next animation frame. */
  paint(): void {
    if (this.#phase === 'due' || this.#phase === 'closed') return
    if (this.#phase === 'measuring') this.#measured()
    this.#enter('due')
    requestAnimationFrame((start) => this.#run(start))
  }

  /** For new frames. */
  paintSoon(): void {
    if (this.#phase === 'measuring') this.#isBehind = true
    if (this.#phase !== 'resting') return
    const pause = this.#notBefore - performance.now()
    if (pause <= 0) return this.paint()
    this.#enter('pausing', pause, () => this.paint())
  }

  close(): void {
    this.#enter('closed')
  }

  #run(start: number): void {
    if (this.#phase === 'closed') return
    this.#enter('resting')
    this.#draw()
    this.#start = start
    // the drawing itself may ask for another one
    if (this.#phase !== 'resting') return
    // the browser renders before the next task
    this.#enter('measuring', 0, () => {
      this.#measured()
      this.#enter('resting')
      if (!this.#isBehind) return
      this.#isBehind = false
      this.paintSoon()
    })
  }

  #measured(): void {
    const end = performance.now()
    this.#notBefore = end + Math.min(maxPauseMs, restPerDrawing * (end - this.#start))
  }

  /** Leaves a phase together with its timer. */
  #enter(phase: Phase, ms?: number, next?: () => void): void {
    clearTimeout(this.#timer)
    this.#phase = phase
    this.#timer = next && setTimeout(next, ms)
  }
}
