import { Queue, QueueEvents } from 'bullmq'
import type { Redis } from 'ioredis'
import { type Seal, within } from 'signalbox/node'
import { DidNotRunError, type RemoteCall, type RemoteResult, type ToolRunner } from 'signalbox/remote'
import {
  abortChannel,
  checkDurability,
  checkEngine,
  checkLabel,
  checkMs,
  closeMs,
  connect,
  type EngineOptions,
  jobIdOf,
  joinWrites,
  markerOf,
  onceInAWhile,
  queueOf,
  retentionSeconds,
  type ToolJob,
  type Warn,
  warnerOf,
} from './engine.ts'
import { OpenCall } from './open-call.ts'
import { aboutCall, checkSeal, Envelope } from './seal.ts'

export interface BullRunnerOptions extends EngineOptions {
  /**
   * Only workers with this label take the calls.
   * @default 'default'
   */
  readonly label?: string | undefined
  /**
   * How long a call waits for a worker before it counts as not run, in milliseconds.
   * @default 60_000
   */
  readonly pickupMs?: number | undefined
  /**
   * How often every open call is looked up, in milliseconds. Events only make it faster.
   * @default 1_000
   */
  readonly lookMs?: number | undefined
  /** Encrypts inputs, progress and results on their way through Redis. The workers need the same seal. */
  readonly seal?: Seal | undefined
}

/** Sends bodies to workers through BullMQ. */
export interface BullRunner extends ToolRunner {
  /** Resolves when Redis has answered and its settings were checked. */
  ready(): Promise<void>
  /** How many calls wait for a worker, and how many run. */
  depth(): Promise<{ waiting: number; running: number }>
  /** Closes the connections. Jobs go on; calls that are open here have an unknown outcome. */
  end(): Promise<void>
}

/**
 * Removes a job that waits. One that was started before waits again because its worker was lost. With a reason, the call
 * is stopped: a job that is not there yet is kept from being added, a worker that has it is told, and a marker stays for
 * a worker that misses the message or takes the job of a lost one.
 */
const removeWaiting = `
local waited = redis.call('LREM', KEYS[1], 1, ARGV[1]) + redis.call('LREM', KEYS[2], 1, ARGV[1]) > 0
local starts, name, stopped = unpack(redis.call('HMGET', KEYS[3], 'ats', 'name', 'stopped'))
if waited then redis.call('DEL', KEYS[3]) end
if waited and starts and starts ~= '0' then return 'lost' end
if ARGV[2] == '' then return waited and 'removed' or 'taken' end
if waited or not name then
  redis.call('HSET', KEYS[3], 'stopped', ARGV[2])
  redis.call('EXPIRE', KEYS[3], ARGV[3])
  return (waited or stopped) and 'removed' or 'absent'
end
redis.call('SET', KEYS[4], ARGV[2], 'EX', ARGV[3])
redis.pcall('PUBLISH', ARGV[4], ARGV[5])
return 'taken'`

/** An event of a short call is followed by its result, so a look that only tells the place waits a little. */
const settleMs = 10

/**
 * Runs bodies on other machines: the workers are started with `serveTools`.
 *
 * @example
 * const runner = bullRunner({ connection: 'redis://127.0.0.1:6379', label: 'gpu' })
 */
export function bullRunner(options: BullRunnerOptions): BullRunner {
  checkEngine(options, ['label', 'pickupMs', 'lookMs', 'seal'])
  checkSeal(options.seal)
  const { label = 'default', pickupMs = 60_000, lookMs = 1_000 } = options
  checkLabel('label', label)
  checkMs('pickupMs', pickupMs)
  checkMs('lookMs', lookMs)
  return new QueueRunner(options, label, pickupMs, lookMs)
}

/** The part of a runner that an open call needs. */
export interface Engine {
  readonly redis: Redis
  readonly queue: Queue
  readonly prefix: string
  readonly label: string
  readonly pickupMs: number
  readonly lookMs: number
  readonly envelope: Envelope
  /** Whether events arrive: before the first one, looks must do without them. */
  readonly hasEvents: boolean
  /** `again`: its job is gone, and it may run once more. */
  add(call: RemoteCall, how?: 'again'): Promise<void>
  /** How many calls wait. Asked once for all that look at about the same time. */
  waiting(): Promise<number>
  /** With a reason, a job that does not wait is told to stop. */
  removeWaiting(id: string, reason?: string): Promise<Removal>
}

/**
 * `removed`: it will not run. `taken`: a worker has it, or it is gone. `lost`: its worker was lost, and nobody has taken
 * it since. `absent`: there is no job, and none can be added.
 */
type Removal = 'removed' | 'taken' | 'lost' | 'absent'

class QueueRunner implements BullRunner, Engine {
  readonly redis: Redis
  readonly queue: Queue
  readonly prefix: string
  readonly label: string
  readonly pickupMs: number
  readonly lookMs: number
  readonly envelope: Envelope
  readonly #events: QueueEvents
  readonly #listening: Redis
  readonly #open = new Map<string, Set<OpenCall>>()
  readonly #ready: Promise<void>
  hasEvents = false
  #waiting: { readonly until: number; readonly count: Promise<number> } | undefined
  #isEnded = false

  constructor(options: BullRunnerOptions, label: string, pickupMs: number, lookMs: number) {
    this.envelope = new Envelope(options.seal)
    const warn: Warn = warnerOf(options)
    const onError = onceInAWhile(warn, 'The connection of bullRunner to Redis failed')
    this.prefix = options.prefix ?? 'signalbox'
    this.label = label
    this.pickupMs = pickupMs
    this.lookMs = lookMs
    this.redis = joinWrites(connect(options.connection, onError))
    this.#listening = connect(options.connection, onError)
    const shared = { prefix: this.prefix, skipVersionCheck: false }
    this.queue = new Queue(queueOf(label), { ...shared, connection: this.redis })
    this.#events = new QueueEvents(queueOf(label), { ...shared, connection: this.#listening })
    this.queue.on('error', onError)
    this.#events.on('error', onError)
    this.#ready = checkDurability(this.redis, warn)
    this.#ready.catch(onError)
    this.#listen()
  }

  async ready(): Promise<void> {
    await Promise.all([this.#ready, this.queue.waitUntilReady(), this.#events.waitUntilReady()])
  }

  async depth(): Promise<{ waiting: number; running: number }> {
    const { waiting = 0, active = 0 } = await this.queue.getJobCounts('waiting', 'active')
    return { waiting, running: active }
  }

  waiting(): Promise<number> {
    const now = performance.now()
    if (this.#waiting === undefined || now > this.#waiting.until) {
      this.#waiting = { until: now + this.lookMs, count: this.redis.llen(this.queue.toKey('wait')) }
    }
    return this.#waiting.count
  }

  async call(call: RemoteCall): Promise<RemoteResult> {
    if (this.#isEnded) throw new DidNotRunError('The call did not run: the runner has ended.')
    const id = jobIdOf(call.key)
    const open = new OpenCall(this, call, id)
    const calls = this.#open.get(id) ?? new Set()
    this.#open.set(id, calls.add(open))
    try {
      return await open.result()
    } finally {
      calls.delete(open)
      if (calls.size === 0) this.#open.delete(id)
    }
  }

  async end(): Promise<void> {
    this.#isEnded = true
    for (const calls of this.#open.values()) for (const call of calls) call.lose('The runner was ended.')
    await within(Promise.allSettled([this.queue.close(), this.#events.close()]), closeMs)
    this.redis.disconnect()
    this.#listening.disconnect()
  }

  async add(call: RemoteCall, how?: 'again'): Promise<void> {
    const { key, tool, toolUseID, input, context, again, abortGraceMs } = call
    const isAddedAgain = how === 'again' ? true : undefined
    const job: ToolJob = { tool, toolUseID, input, context, again, abortGraceMs, isAddedAgain }
    const kept = { age: retentionSeconds }
    const id = jobIdOf(key)
    const data = await this.envelope.pack(job, aboutCall(id))
    await this.queue.add(tool.name, data, { jobId: id, removeOnComplete: kept, removeOnFail: kept })
  }

  async removeWaiting(id: string, reason = ''): Promise<Removal> {
    const { prefix, label } = this
    const keys = [...['wait', 'paused', id].map((name) => this.queue.toKey(name)), markerOf(prefix, label, id)]
    const message = JSON.stringify({ id, reason })
    const values = [id, reason, retentionSeconds, abortChannel(prefix, label), message]
    return (await this.redis.eval(removeWaiting, keys.length, ...keys, ...values)) as Removal
  }

  /**
   * Events are hints: a lost one costs time, never a result. Those at the end of a job have its outcome, which Redis
   * wrote together with its state; the others lead to a look at the job.
   */
  #listen(): void {
    const tell = (id: string, of: (call: OpenCall) => void): void => {
      this.hasEvents = true
      for (const call of this.#open.get(id) ?? []) of(call)
    }
    const events = this.#events
    for (const event of ['removed', 'duplicated', 'stalled'] as const)
      events.on(event, ({ jobId }: { jobId: string }) => tell(jobId, (call) => call.look()))
    events.on('active', ({ jobId }) => tell(jobId, (call) => call.lookIn(settleMs)))
    events.on('progress', ({ jobId, data }) => tell(jobId, (call) => call.progress(data)))
    events.on('completed', ({ jobId, returnvalue }) => tell(jobId, (call) => void call.complete(returnvalue)))
    events.on('failed', ({ jobId, failedReason }) => tell(jobId, (call) => call.fail(failedReason)))
  }
}
