import { invalidOption } from '../../base/invalid-option.ts'
import type { BodyOutcome, RemoteCall } from '../../remote/index.ts'
import { BodyLine } from './body-line.ts'
import { bodyProgram, type ToBody } from './body-program.ts'
import type { BodyRunner } from './local-runner.ts'
import { moduleUrl } from './module-url.ts'

/**
 * Runs bodies in this process: for a worker whose tools are short and asynchronous. A body that blocks keeps the whole
 * worker from its work, one that crashes ends it, and one that does not stop cannot be killed.
 *
 * @example
 * const bodies = bodiesInProcess({ tools: new URL('./tools.js', import.meta.url) })
 */
export function bodiesInProcess({ tools }: { readonly tools: string | URL }): BodyRunner {
  return new OwnProcess(moduleUrl(tools))
}

class OwnProcess implements BodyRunner {
  readonly #tools: string
  readonly #line: BodyLine
  #hear: (message: ToBody) => void = () => undefined
  #isLoading = false
  #isEnded = false
  open = 0

  constructor(tools: string) {
    this.#tools = tools
    this.#line = new BodyLine({
      tell: (message) => this.#hear(message),
      giveUp: () => ({ status: 'unknown', because: 'The body did not stop within its grace period, and goes on.' }),
    })
  }

  async run(call: RemoteCall): Promise<BodyOutcome> {
    if (call.attach && !call.again) return gone
    this.#start()
    this.open++
    try {
      const onStart = (): void => call.onPlace({ place: 'remote', worker: `process ${process.pid}` })
      const outcome = await this.#line.run(call, () => call.signal.aborted || this.#isEnded, onStart)
      return outcome ?? gone
    } finally {
      this.open--
    }
  }

  async load() {
    this.#start()
    const tools = await this.#line.load()
    if (typeof tools === 'string') return invalidOption('tools', `a module that can be loaded (${tools})`, this.#tools)
    if (tools.length === 0) return invalidOption('tools', 'a module that exports tools', this.#tools)
    return tools
  }

  /** Bodies that still run go on with this process: their outcome is unknown. */
  async end(): Promise<void> {
    this.#isEnded = true
    this.#line.hangUp('the worker has ended.')
  }

  #start(): void {
    if (this.#isLoading) return
    this.#isLoading = true
    bodyProgram(this.#tools, (specifier) => import(specifier), {
      send: (message) => this.#line.hear(message),
      listen: (listener) => {
        this.#hear = listener
      },
    })
  }
}

const gone: BodyOutcome = { status: 'unknown', because: 'The worker ended before the body did.' }
