import { readField } from '../base/read-field.ts'
import type { Place, RemoteCall, RemoteResult, RemoteTool, ToolRunner } from '../remote/index.ts'
import { suiteTool } from './runner-tools.ts'

/** A runner with its workers, for one test. */
export interface RunnerUnderTest {
  readonly runner: ToolRunner
  /** A new file that workers can append to, and its lines so far. */
  readonly effects: { readonly file: string; lines(): Promise<readonly string[]> }
  /** Kills the worker whose body has written the last line, as kill -9 does. Another worker must be there. */
  killWorker?(): Promise<void>
  /** A runner of another host on the same engine. */
  anotherHost?(): ToolRunner | Promise<ToolRunner>
  /** Stops the engine without warning and starts it again with the data it had. */
  restartEngine?(): Promise<void>
  /** From now on no event reaches the runner. */
  dropEvents?(): void | Promise<void>
  /** Removes all jobs from the engine. */
  forgetJobs?(): Promise<void>
  /** Ends all workers, so that nobody takes a job. Returns a runner that waits a short time for a pick-up. */
  removeWorkers?(): Promise<ToolRunner>
  /** Called when the test has ended. */
  end?(): void | Promise<void>
}

/** Abilities that a runner may lack; each with the reason. */
export type RunnerAbility =
  | 'killWorker'
  | 'anotherHost'
  | 'restartEngine'
  | 'dropEvents'
  | 'forgetJobs'
  | 'removeWorkers'

/** Makes a runner whose workers load their tools from this module, with places for two bodies at once. */
export type MakeToolRunner = (tools: string) => RunnerUnderTest | Promise<RunnerUnderTest>

/** A call that was sent. */
export interface SentCall {
  readonly result: Promise<RemoteResult>
  /** The data of the result, or the name of the error with its message. */
  readonly told: Promise<unknown>
  readonly progress: readonly unknown[]
  readonly places: readonly Place[]
  /** Resolves when the body has begun. */
  readonly began: Promise<void>
  abort(reason?: unknown): void
}

let keys = 0

export class RunnerBench {
  readonly given: RunnerUnderTest
  readonly #sent: SentCall[] = []

  constructor(given: RunnerUnderTest) {
    this.given = given
  }

  send(
    name: string,
    input: Record<string, unknown> = {},
    {
      runner = this.given.runner,
      tool = suiteTool(name),
      ...change
    }: Partial<Omit<RemoteCall, 'tool'>> & { runner?: ToolRunner; tool?: RemoteTool } = {},
  ): SentCall {
    const controller = new AbortController()
    const progress: unknown[] = []
    const places: Place[] = []
    let begin: () => void = () => undefined
    const began = new Promise<void>((resolve) => {
      begin = resolve
    })
    const key = change.key ?? `suite-${Date.now()}-${keys++}`
    const call: RemoteCall = {
      key,
      tool,
      toolUseID: `call-${keys}`,
      input: { file: this.given.effects.file, name: key, ...input },
      context: {},
      again: false,
      attach: false,
      abortGraceMs: 10_000,
      timeoutMs: undefined,
      signal: controller.signal,
      onProgress: (data) => {
        progress.push(data)
        if (data === 'began') begin()
      },
      onPlace: (place) => void places.push(place),
      ...change,
    }
    const result = runner.call(call)
    const told = result.then(({ data }) => data, nameOf)
    const sent = { result, told, progress, places, began, abort: (reason: unknown) => controller.abort(reason) }
    this.#sent.push(sent)
    return sent
  }

  /** How often bodies with this key have begun; all bodies without one. */
  async begun(key = ''): Promise<number> {
    return (await this.given.effects.lines()).filter((line) => line.startsWith(key === '' ? '' : `${key} `)).length
  }

  async end(): Promise<void> {
    for (const { abort } of this.#sent) abort('the test is over')
    await this.given.end?.()
    await Promise.all(this.#sent.map(({ told }) => told))
  }
}

const nameOf = (error: unknown): string => {
  const [name, message, code] = ['name', 'message', 'code'].map((key) => readField(error, key))
  if (name === 'UnknownOutcomeError' || name === 'DidNotRunError') return name
  return `${name}: ${message}${code === undefined ? '' : ` (${code})`}`
}
