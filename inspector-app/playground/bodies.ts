import type { PlannedCall } from './planned-call.ts'
import type { PlayClock } from './play-clock.ts'

interface Body {
  readonly planned: PlannedCall
  readonly startedAt: number
  timer: number
  end(error?: unknown): void
}

const tickMs = 120

/** The simulated tool bodies: they wait, then end as planned or when a person presses Fail. */
export class Bodies {
  readonly #clock: PlayClock
  readonly #running = new Map<string, Body>()

  constructor(clock: PlayClock) {
    this.#clock = clock
  }

  isRunning(id: string): boolean {
    return this.#running.has(id)
  }

  run(planned: PlannedCall, signal: AbortSignal, onProgress: (part: number) => void): Promise<string> {
    const clock = this.#clock
    const startedAt = clock.now()
    return new Promise((resolve, reject) => {
      let ticker = 0
      const tick = (): void => {
        onProgress(Math.min(1, (clock.now() - startedAt) / planned.ms))
        ticker = clock.setMinorTimeout(tick, tickMs)
      }
      const leave = (): void => {
        clock.clearTimeout(ticker)
        clock.clearTimeout(body.timer)
        signal.removeEventListener('abort', onAbort)
        this.#running.delete(planned.id)
      }
      const onAbort = (): void => body.end(signal.reason)
      const body: Body = {
        planned,
        startedAt,
        timer: 0,
        end(error) {
          leave()
          if (error === undefined) resolve(`done: ${planned.about}`)
          else reject(error)
        },
      }
      signal.addEventListener('abort', onAbort)
      this.#running.set(planned.id, body)
      ticker = clock.setMinorTimeout(tick, tickMs)
      this.#arm(body)
    })
  }

  fail(id: string): void {
    const body = this.#running.get(id)
    body?.end(failureOf(body.planned))
  }

  /** Applies a new duration to a running body. */
  lengthChanged(id: string): void {
    const body = this.#running.get(id)
    if (body !== undefined) this.#arm(body)
  }

  #arm(body: Body): void {
    const { planned, startedAt } = body
    this.#clock.clearTimeout(body.timer)
    const left = startedAt + planned.ms - this.#clock.now()
    body.timer = this.#clock.setTimeout(() => body.end(planned.fails ? failureOf(planned) : undefined), left)
  }
}

const failureOf = ({ tool, about }: PlannedCall): Error =>
  Object.assign(new Error(tool === 'Bash' ? `${about}: exit code 1` : `${about} is unreachable`), {
    name: 'ToolFailed',
    stack: '',
  })
