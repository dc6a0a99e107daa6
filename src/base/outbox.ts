import type { AnyActorRef, AnyEventObject } from 'xstate'
import { Fifo } from './fifo.ts'

type Job = () => void

/**
 * What the charts asked for, done once they are at rest. So user code never runs inside a guard, an assign or an
 * action, and may itself call the executor: whatever it starts is worked off by the loop that is already running.
 */
export class Outbox {
  readonly #deliver: (actor: AnyActorRef, event: AnyEventObject) => void
  readonly #afterwards: Job
  readonly #jobs = new Fifo<Job>()
  #isRunning = false
  #isStepped = false

  /** `afterwards` runs each time everything has been worked off. */
  constructor(deliver: (actor: AnyActorRef, event: AnyEventObject) => void, afterwards: Job) {
    this.#deliver = deliver
    this.#afterwards = afterwards
  }

  /** Steps the charts, then does what they asked for, until nothing is left. */
  run(step: Job): void {
    const isFirst = this.#begin()
    try {
      step()
      if (isFirst) this.#workOff()
    } finally {
      if (isFirst) this.#isRunning = false
    }
  }

  /** The same, where the step is an event. */
  send(actor: AnyActorRef, event: AnyEventObject): void {
    const isFirst = this.#begin()
    try {
      this.#deliver(actor, event)
      if (isFirst) this.#workOff()
    } finally {
      if (isFirst) this.#isRunning = false
    }
  }

  push(job: Job): void {
    this.#jobs.push(job)
    // the charts were stepped from outside, by a host that sends to the actor itself
    if (!this.#isRunning) queueMicrotask(() => this.run(() => undefined))
  }

  #begin(): boolean {
    const isFirst = !this.#isRunning
    if (isFirst) this.#isRunning = true
    else this.#isStepped = true
    return isFirst
  }

  #workOff(): void {
    do {
      for (let job = this.#jobs.shift(); job !== undefined; job = this.#jobs.shift()) attempt(job)
      this.#isStepped = false
      attempt(this.#afterwards)
    } while (this.#jobs.length > 0 || this.#isStepped)
  }
}

/** Jobs catch what user code throws. A throw that gets here is a fault of ours: loud, but at nobody's expense. */
function attempt(job: Job): void {
  try {
    job()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
