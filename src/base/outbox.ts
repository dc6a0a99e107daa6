import type { AnyActorRef, AnyEventObject } from 'xstate'
import { Fifo } from './fifo.ts'

type Job = () => void
/** A job with its argument, so that requesting it creates no closure. */
type JobFor<Given> = (given: Given) => void

/**
 * Runs the work that the charts request, when no chart is in the middle of a step. So user code never runs inside a
 * guard, an assign or an action, and may call the executor itself: the running loop also processes what it starts.
 */
export class Outbox {
  readonly #deliver: (actor: AnyActorRef, event: AnyEventObject) => void
  readonly #afterwards: Job
  /** Two entries each: the job and its argument. */
  readonly #jobs = new Fifo<unknown>()
  #isRunning = false
  #isStepped = false

  /** `afterwards` runs each time the queue is empty. */
  constructor(deliver: (actor: AnyActorRef, event: AnyEventObject) => void, afterwards: Job) {
    this.#deliver = deliver
    this.#afterwards = afterwards
  }

  /** Steps the charts, then runs the requested work until the queue is empty. */
  run(step: Job): void {
    const isFirst = this.#begin()
    try {
      step()
      if (isFirst) this.#workOff()
    } finally {
      if (isFirst) this.#isRunning = false
    }
  }

  /** Like `run`, with an event as the step. */
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
    this.pushFor(undefined, job)
  }

  pushFor<Given>(given: Given, job: JobFor<Given>): void {
    this.#jobs.push(job)
    this.#jobs.push(given)
    // the charts were stepped from outside, by a host that sends events to the actor
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
      while (this.#jobs.length > 0) attempt(this.#jobs.shift() as JobFor<unknown>, this.#jobs.shift())
      this.#isStepped = false
      attempt(this.#afterwards, undefined)
    } while (this.#jobs.length > 0 || this.#isStepped)
  }
}

/** Jobs catch what user code throws. An error here is a bug in Signalbox: it is rethrown asynchronously and stops nothing. */
function attempt(job: JobFor<unknown>, given: unknown): void {
  try {
    job(given)
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
