import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'

import { runMarker } from '../../process/marked-processes.ts'
import { liveGroups, sendSignal } from '../../process/signals.ts'
import { watchdog } from '../../process/watchdog.ts'
import { type BodyOutcome, mismatchOf, type RemoteCall, type RemoteTool, schemaHashOf } from '../../remote/index.ts'
import { bodyProcess, type FromBody, type ToBody } from './body-process.ts'

export interface ChildOptions {
  /** The URL of the module with the tools. */
  readonly tools: string
  readonly execArgv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

/** Some compilers add a helper for names to every function. */
const programFor = (tools: string): string =>
  `const __name = (named) => named; (${bodyProcess})(${JSON.stringify(tools)}, (specifier) => import(specifier))`

type Ready = { readonly tools: Map<string, RemoteTool> } | { readonly problem: string }

/** A process that runs one body at a time. If this process is killed, the watchdog ends it and all it has started. */
export class BodyChild {
  readonly #process: ChildProcess
  readonly #ready: Promise<Ready>
  readonly #gone: Promise<string>
  /** Gets the messages, and undefined when the process is gone. */
  #listener: (message: FromBody | undefined) => void = () => undefined
  #bodies = 0
  isGone = false

  constructor({ tools, execArgv, env, cwd }: ChildOptions) {
    const id = randomUUID()
    const args = [...execArgv, '--input-type=module', '-e', programFor(tools)]
    const child = spawn(process.execPath, args, {
      cwd,
      env: { ...env, [runMarker]: id },
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#process = child
    const { pid } = child
    if (pid !== undefined) {
      liveGroups.add(pid, `${runMarker}=${id}`)
      watchdog.guard(pid, id)
    }
    child.on('message', (message: FromBody) => this.#listener(message))
    this.#gone = new Promise((resolve) => {
      const end = (because: string): void => {
        this.isGone = true
        if (pid !== undefined) {
          // what the body has started ends with it
          sendSignal(-pid, 'SIGKILL')
          liveGroups.delete(pid)
          watchdog.letGo(pid)
        }
        resolve(because)
        this.#listener(undefined)
      }
      child.once('error', (error) => end(`could not be started: ${error.message}`))
      child.once('exit', (code, signal) => end(`ended with ${signal ?? `exit code ${code}`}`))
    })
    this.#ready = Promise.race([this.#loaded(), this.#gone.then((because) => ({ problem: `the process ${because}` }))])
  }

  get name(): string {
    return `process ${this.#process.pid ?? '(none)'}`
  }

  /** The tools of the module, or why it could not be loaded. */
  async load(): Promise<RemoteTool[] | string> {
    const ready = await this.#ready
    return 'problem' in ready ? ready.problem : [...ready.tools.values()]
  }

  /** Undefined if the process ended before the body did. Never rejects. */
  async run(call: RemoteCall, isStopped: () => boolean, onStart: () => void): Promise<BodyOutcome | undefined> {
    const ready = await this.#ready
    if ('problem' in ready) {
      return { status: 'notRun', because: `its tools could not be loaded: ${ready.problem}` }
    }
    const mismatch = mismatchOf(call.tool, ready.tools.get(call.tool.name))
    if (mismatch !== undefined) return { status: 'notRun', because: mismatch }
    if (isStopped()) return { status: 'notRun', because: 'it was stopped before it began.' }
    onStart()
    return this.#follow(call)
  }

  #loaded(): Promise<Ready> {
    return new Promise((resolve) => {
      this.#listener = (message) => {
        if (message?.type === 'broken') resolve({ problem: message.problem })
        if (message?.type !== 'ready') return
        const own = message.tools.map(({ name, version, schema }) => ({
          name,
          version,
          schemaHash: schemaHashOf(schema),
        }))
        resolve({ tools: new Map(own.map((tool) => [tool.name, tool])) })
      }
    })
  }

  async #follow({ tool, toolUseID, input, context, signal, abortGraceMs, onProgress }: RemoteCall) {
    const id = ++this.#bodies
    let kill: ReturnType<typeof setTimeout> | undefined
    let isKilled = false
    const stop = (): void => {
      this.#tell({ type: 'abort', id, reason: reasonOf(signal.reason) })
      kill = setTimeout(() => {
        isKilled = true
        this.kill()
      }, abortGraceMs)
    }
    const ended = new Promise<BodyOutcome | undefined>((resolve) => {
      this.#listener = (message) => {
        if (message === undefined) resolve(undefined)
        else if (message.type === 'progress' && message.id === id) onProgress(message.data)
        else if (message.type === 'outcome' && message.id === id) resolve(message.outcome)
      }
    })
    if (this.isGone) this.#listener(undefined)
    this.#tell({ type: 'run', id, tool: tool.name, toolUseID, input, context })
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    const outcome = await ended
    this.#listener = () => undefined
    clearTimeout(kill)
    signal.removeEventListener('abort', stop)
    if (outcome !== undefined || !isKilled) return outcome
    const message = 'The body did not stop within its grace period and was killed.'
    return { status: 'threw', error: { name: 'AbortError', message } } as const
  }

  kill(): void {
    const { pid } = this.#process
    if (pid === undefined || this.isGone) return
    sendSignal(-pid, 'SIGKILL')
    this.#process.kill('SIGKILL')
  }

  /** Lets this process end although the child waits for more bodies. */
  rest(): void {
    this.#process.unref()
    this.#process.channel?.unref()
  }

  wake(): void {
    this.#process.ref()
    this.#process.channel?.ref()
  }

  async end(): Promise<void> {
    this.wake()
    this.kill()
    await this.#gone
  }

  #tell(message: ToBody): void {
    // a process that is gone is noticed by its exit
    if (this.#process.connected) this.#process.send(message, () => undefined)
  }
}

/** Only what JSON can carry. */
const reasonOf = (reason: unknown): string =>
  typeof reason === 'string' ? reason : reason instanceof Error ? reason.message : 'abort'
