import type { Job } from 'bullmq'
import type { Redis } from 'ioredis'
import type { ResultStore } from 'signalbox'
import type { BodyRunner } from 'signalbox/node'
import {
  type BodyOutcome,
  exceeds,
  maxResultBytes,
  type RemoteCall,
  type RemoteResult,
  storedData,
} from 'signalbox/remote'
import { markerOf, type NumberedProgress, type ToolAnswer, type ToolJob } from './engine.ts'
import { aboutCall, aboutOutcome, aboutProgress, type Envelope } from './seal.ts'

/** How many calls are remembered that were stopped and do not run here. */
const maxStopped = 1_000
/** More reports than one run can make. */
const maxReports = 1_000_000_000

/** The worker that the jobs are for. */
interface JobSurroundings {
  readonly bodies: BodyRunner
  readonly envelope: Envelope
  readonly redis: Redis
  readonly prefix: string
  /** Its name. */
  readonly worker: string
  readonly resultStore: ResultStore | undefined
}

interface RunningJob {
  readonly id: string
  readonly label: string
  readonly stop: AbortController
}

/** The jobs of a worker: runs their bodies, and stops those that a host has aborted. */
export class ToolJobs {
  readonly #at: JobSurroundings
  /** A worker that was stopped for a while may run its own job once more. */
  readonly #running = new Set<RunningJob>()
  /** Calls that others run, or that arrive here only after the message that stops them. */
  readonly #stopped = new Map<string, unknown>()

  constructor(at: JobSurroundings) {
    this.#at = at
  }

  /** How many bodies run. */
  get running(): number {
    return this.#running.size
  }

  /** A message says that a call was stopped. */
  stop(id: string, reason: unknown): void {
    const running = [...this.#running].filter((job) => job.id === id)
    for (const job of running) job.stop.abort(reason)
    if (running.length > 0) return
    this.#stopped.set(id, reason)
    const [oldest = ''] = this.#stopped.keys()
    if (this.#stopped.size > maxStopped) this.#stopped.delete(oldest)
  }

  lookAtMarkers(): void {
    const jobs = [...this.#running]
    if (jobs.length === 0) return
    const keys = jobs.map(({ id, label }) => markerOf(this.#at.prefix, label, id))
    this.#at.redis.mget(keys).then(
      (reasons) => {
        for (const [index, reason] of reasons.entries()) if (reason !== null) jobs[index]?.stop.abort(reason)
      },
      () => undefined,
    )
  }

  /** Says what became of a body. If this throws, its outcome is unknown. */
  async answer(label: string, job: Job): Promise<unknown> {
    const id = String(job.id)
    const call = await this.#open(job.data, id)
    const outcome: BodyOutcome =
      typeof call === 'string' ? { status: 'notRun', because: call } : await this.#work(label, job, call)
    const answer: ToolAnswer = { outcome, worker: this.#at.worker }
    return this.#at.envelope.pack(answer, aboutOutcome(id))
  }

  /** The call in a job, or why there is none. */
  async #open(data: unknown, id: string): Promise<ToolJob | string> {
    try {
      const call = (await this.#at.envelope.unpack(data, aboutCall(id))) as ToolJob
      return typeof call?.tool?.name === 'string' ? call : 'its job names no tool.'
    } catch (error) {
      return `its job cannot be opened: ${error instanceof Error ? error.message : error}`
    }
  }

  async #work(label: string, job: Job, call: ToolJob): Promise<BodyOutcome> {
    const { again, tool, toolUseID } = call
    const id = String(job.id)
    const isSecond = job.attemptsStarted > 1
    const lost: BodyOutcome = { status: 'unknown', because: 'Its first worker was lost.' }
    if (isSecond && (!again || job.attemptsStarted > 2)) return lost
    const stop = new AbortController()
    const running: RunningJob = { id, label, stop }
    this.#running.add(running)
    try {
      // a call that was stopped while it waited is not delivered, except for the second time
      const isMarked = isSecond && (await this.#at.redis.exists(markerOf(this.#at.prefix, label, id))) === 1
      if (isMarked || this.#stopped.delete(id)) {
        return isSecond ? lost : { status: 'notRun', because: 'it was stopped before a worker began it.' }
      }
      const outcome = await this.#at.bodies.run(this.#callOf(job, call, stop.signal))
      return await this.#fit(outcome, tool.name, toolUseID)
    } finally {
      this.#running.delete(running)
    }
  }

  #callOf(job: Job, call: ToolJob, signal: AbortSignal): RemoteCall {
    // the reports of a later run come after those of an earlier one; a job runs at most twice
    let n = (job.attemptsStarted - 1 + (call.isAddedAgain === true ? 2 : 0)) * maxReports
    return {
      ...call,
      // a second delivery is a second run
      key: `${job.id} ${job.attemptsStarted}`,
      attach: false,
      again: false,
      timeoutMs: undefined,
      signal,
      onProgress: (data) => void this.#report(job, ++n, data).catch(() => undefined),
      onPlace: () => undefined,
    }
  }

  async #report(job: Job, n: number, data: unknown): Promise<void> {
    const report: NumberedProgress = { n, data: await this.#at.envelope.pack(data, aboutProgress(String(job.id), n)) }
    await job.updateProgress(report)
  }

  /** A long result is stored: BullMQ would copy it into its stream of events. */
  async #fit(outcome: BodyOutcome, toolName: string, toolUseID: string): Promise<BodyOutcome> {
    if (outcome.status !== 'returned' || !exceeds(JSON.stringify(outcome), maxResultBytes)) return outcome
    const { data, dropped, interrupted } = outcome.result
    const text = typeof data === 'string' ? data : JSON.stringify(data)
    const { resultStore } = this.#at
    try {
      if (resultStore === undefined) throw new Error('serveTools has no resultStore.')
      const { path } = await resultStore.save({ toolUseID, toolName, text })
      const result: RemoteResult = {
        stored: storedData(path, text),
        ...(interrupted !== undefined && { interrupted }),
        ...(dropped !== undefined && { dropped }),
      }
      return { status: 'returned', result }
    } catch (error) {
      const because = error instanceof Error ? error.message : String(error)
      const message = `The tool finished, but its result has more than ${maxResultBytes} bytes and could not be stored: ${because}`
      return { status: 'threw', error: { name: 'Error', message } }
    }
  }
}
