import { availableParallelism } from 'node:os'
import { invalidOption, unknownOption } from '../../base/invalid-option.ts'
import { anIntegerFrom, checkOption, milliseconds } from '../../base/option-rules.ts'
import {
  type BodyOutcome,
  type RemoteCall,
  type RemoteResult,
  type RemoteTool,
  settleOutcome,
  type ToolRunner,
} from '../../remote/index.ts'
import { BodyChild, type ChildOptions } from './body-child.ts'
import { moduleUrl } from './module-url.ts'

export interface LocalRunnerOptions {
  /** The module that exports the tools: its path or its URL. Each process loads it. */
  readonly tools: string | URL
  /**
   * How many bodies may run at once. Others wait.
   * @default the number of processors
   */
  readonly maxProcesses?: number | undefined
  /**
   * Whether a process runs another body after the first has ended well. A process that was aborted or has crashed is
   * never used again.
   * @default true
   */
  readonly reuse?: boolean | undefined
  /**
   * How long a call waits for a process before it counts as not run, in milliseconds.
   * @default 60_000
   */
  readonly pickupMs?: number | undefined
  /**
   * Arguments for Node, such as those that load TypeScript.
   * @default those of this process, without debugger options
   */
  readonly execArgv?: readonly string[] | undefined
  /** @default the environment of this process */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** @default the working directory of this process */
  readonly cwd?: string | undefined
}

/** Runs bodies for a worker. */
export interface BodyRunner {
  /** The outcome as plain JSON, for a worker that sends it on. Never rejects. */
  run(call: RemoteCall): Promise<BodyOutcome>
  /** Loads the module, for the next body. Rejects if it cannot be loaded, or exports no tools. */
  load(): Promise<RemoteTool[]>
  /** Bodies that run or wait. */
  readonly open: number
  /** Kills every process. Bodies that still run have an unknown outcome. */
  end(): Promise<void>
}

/** Runs bodies in processes on this machine. */
export interface LocalRunner extends ToolRunner, BodyRunner {}

/** Outcomes that are kept, so that a call that is sent twice does not run twice. */
const maxKnown = 1_000

interface Job {
  readonly outcome: Promise<BodyOutcome>
  readonly stop: AbortController
  /** Those who sent the call: more than one if it was sent again. */
  readonly calls: Set<RemoteCall>
  /** The last place, for those who send it again. */
  worker: string | undefined
}

/**
 * Runs each body in a process of its own, so that a tool that blocks or crashes does not take the host with it.
 *
 * @example
 * const runner = localRunner({ tools: new URL('./tools.js', import.meta.url) })
 */
export function localRunner(options: LocalRunnerOptions): LocalRunner {
  return new ProcessPool(checked(options))
}

interface Checked extends ChildOptions {
  readonly maxProcesses: number
  readonly reuse: boolean
  readonly pickupMs: number
}

class ProcessPool implements LocalRunner {
  readonly #options: Checked
  readonly #jobs = new Map<string, Job>()
  readonly #idle: BodyChild[] = []
  readonly #busy = new Set<BodyChild>()
  /** In the order of arrival. Each is called when it gets a place. */
  readonly #waiting = new Set<() => void>()
  #free: number
  #open = 0
  #isEnded = false

  constructor(options: Checked) {
    this.#options = options
    this.#free = options.maxProcesses
  }

  get open(): number {
    return this.#open
  }

  async call(call: RemoteCall): Promise<RemoteResult> {
    return settleOutcome(await this.run(call))
  }

  run(call: RemoteCall): Promise<BodyOutcome> {
    const known = this.#jobs.get(call.key)
    if (known !== undefined) return join(known, call)
    if (call.attach && !call.again) {
      return Promise.resolve({ status: 'unknown', because: 'The process that ran the body is gone.' })
    }
    return join(this.#add(call), call)
  }

  async load(): Promise<RemoteTool[]> {
    const child = this.#idle.pop() ?? new BodyChild(this.#options)
    this.#busy.add(child)
    try {
      const tools = await child.load()
      if (typeof tools === 'string')
        return invalidOption('tools', `a module that can be loaded (${tools})`, this.#options.tools)
      if (tools.length === 0) return invalidOption('tools', 'a module that exports tools', this.#options.tools)
      return tools
    } finally {
      this.#busy.delete(child)
      if (this.#isEnded || child.isGone) child.kill()
      else {
        child.rest()
        this.#idle.push(child)
      }
    }
  }

  async end(): Promise<void> {
    this.#isEnded = true
    for (const give of [...this.#waiting]) give()
    await Promise.all([...this.#idle.splice(0), ...this.#busy].map((child) => child.end()))
  }

  #add(call: RemoteCall): Job {
    this.#open++
    const calls = new Set<RemoteCall>()
    const stop = new AbortController()
    const shared: RemoteCall = {
      ...call,
      signal: stop.signal,
      onProgress: (data) => {
        for (const each of calls) each.onProgress(data)
      },
      onPlace: (place) => {
        for (const each of calls) each.onPlace(place)
      },
    }
    // after the caller has joined, so that it is told the first place
    const outcome = Promise.resolve().then(() => this.#work(shared, job))
    const job: Job = { outcome, stop, calls, worker: undefined }
    this.#jobs.set(call.key, job)
    return job
  }

  async #work(call: RemoteCall, job: Job): Promise<BodyOutcome> {
    try {
      const outcome = await this.#attempt(call, job)
      // a read-only call runs once more
      return outcome ?? (call.again ? await this.#attempt(call, job) : undefined) ?? lost
    } finally {
      this.#open--
      for (const key of this.#jobs.keys()) {
        if (this.#jobs.size <= maxKnown) break
        this.#jobs.delete(key)
      }
    }
  }

  async #attempt(call: RemoteCall, job: Job): Promise<BodyOutcome | undefined> {
    call.onPlace(this.#free > 0 ? { place: 'sent' } : { place: 'sent', waiting: this.#waiting.size + 1 })
    const waited = await this.#waitForPlace(call.signal)
    if (waited !== undefined) return { status: 'notRun', because: waited }
    const child = this.#idle.pop() ?? new BodyChild(this.#options)
    this.#busy.add(child)
    child.wake()
    try {
      return await child.run(
        call,
        () => call.signal.aborted,
        () => {
          job.worker = child.name
          call.onPlace({ place: 'remote', worker: child.name })
        },
      )
    } finally {
      this.#release(child, call.signal.aborted)
    }
  }

  /** Why there is no place, or undefined once there is one. */
  async #waitForPlace(signal: AbortSignal): Promise<string | undefined> {
    if (this.#isEnded) return 'the runner has ended.'
    if (signal.aborted) return 'it was stopped before it began.'
    if (this.#free > 0) {
      this.#free--
      return undefined
    }
    const { pickupMs } = this.#options
    return new Promise((resolve) => {
      let timer: ReturnType<typeof setTimeout> | undefined
      const settle = (because: string | undefined): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
        this.#waiting.delete(give)
        resolve(because)
      }
      const give = (): void => settle(this.#isEnded ? 'the runner has ended.' : undefined)
      const abort = (): void => settle('it was stopped before it began.')
      // Infinity and times that timers do not support are no limit
      if (pickupMs < 2 ** 31) timer = setTimeout(() => settle(`no process took it within ${pickupMs} ms.`), pickupMs)
      signal.addEventListener('abort', abort, { once: true })
      this.#waiting.add(give)
    })
  }

  #release(child: BodyChild, wasAborted: boolean): void {
    this.#busy.delete(child)
    if (this.#isEnded || wasAborted || !this.#options.reuse) child.kill()
    if (!child.isGone && !wasAborted && this.#options.reuse && !this.#isEnded) {
      child.rest()
      this.#idle.push(child)
    }
    const [give] = this.#waiting
    if (give === undefined) this.#free++
    else give()
  }
}

const lost: BodyOutcome = { status: 'unknown', because: 'The process that ran the body ended before the body did.' }

/** The same key is the same job: everybody who sends it gets its outcome, and may stop it. */
async function join(job: Job, call: RemoteCall): Promise<BodyOutcome> {
  const abort = (): void => job.stop.abort(call.signal.reason)
  job.calls.add(call)
  if (job.worker !== undefined) call.onPlace({ place: 'remote', worker: job.worker })
  if (call.signal.aborted) abort()
  call.signal.addEventListener('abort', abort, { once: true })
  try {
    return await job.outcome
  } finally {
    call.signal.removeEventListener('abort', abort)
    job.calls.delete(call)
  }
}

const known = ['tools', 'maxProcesses', 'reuse', 'pickupMs', 'execArgv', 'env', 'cwd']

function checked(options: LocalRunnerOptions): Checked {
  for (const key of Object.keys(options)) if (!known.includes(key)) unknownOption(key, known)
  const { tools, maxProcesses = availableParallelism(), reuse = true, pickupMs = 60_000 } = options
  const { execArgv = process.execArgv.filter((arg) => !arg.startsWith('--inspect')) } = options
  const { env = process.env, cwd = process.cwd() } = options
  const url = moduleUrl(tools)
  checkOption('maxProcesses', maxProcesses, anIntegerFrom(1))
  checkOption('pickupMs', pickupMs, milliseconds)
  return { tools: url, maxProcesses, reuse, pickupMs, execArgv, env, cwd }
}
