import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { runMarker } from '../../process/marked-processes.ts'
import { liveGroups, sendSignal } from '../../process/signals.ts'
import { watchdog } from '../../process/watchdog.ts'
import type { BodyOutcome, RemoteCall, RemoteTool } from '../../remote/index.ts'
import { BodyLine } from './body-line.ts'
import { bodyProgram, type FromBody, parentChannel, type ToBody } from './body-program.ts'

export interface ChildOptions {
  /** The URL of the module with the tools. */
  readonly tools: string
  readonly execArgv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

/** Some compilers add a helper for names to every function. */
const programFor = (tools: string): string =>
  `const __name = (named) => named; (${bodyProgram})(${JSON.stringify(tools)}, (specifier) => import(specifier), (${parentChannel})())`

/** A process that runs one body at a time. If this process is killed, the watchdog ends it and all it has started. */
export class BodyChild {
  readonly #process: ChildProcess
  readonly #gone: Promise<void>
  readonly #line = new BodyLine({
    tell: (message) => this.#tell(message),
    // its outcome is that its process is gone
    giveUp: () => void this.kill(),
  })
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
    child.on('message', (message: FromBody) => this.#line.hear(message))
    this.#gone = new Promise((resolve) => {
      const end = (because: string): void => {
        this.isGone = true
        if (pid !== undefined) {
          // what the body has started ends with it
          sendSignal(-pid, 'SIGKILL')
          liveGroups.delete(pid)
          watchdog.letGo(pid)
        }
        this.#line.hangUp(`the process ${because}`)
        resolve()
      }
      child.once('error', (error) => end(`could not be started: ${error.message}`))
      child.once('exit', (code, signal) => end(`ended with ${signal ?? `exit code ${code}`}`))
    })
  }

  get name(): string {
    return `process ${this.#process.pid ?? '(none)'}`
  }

  /** The tools of the module, or why it could not be loaded. */
  load(): Promise<RemoteTool[] | string> {
    return this.#line.load()
  }

  /** Undefined if the process ended before the body did. Never rejects. */
  run(call: RemoteCall, isStopped: () => boolean, onStart: () => void): Promise<BodyOutcome | undefined> {
    return this.#line.run(call, isStopped, onStart)
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
