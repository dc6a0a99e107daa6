import { type BodyOutcome, mismatchOf, type RemoteCall, type RemoteTool, schemaHashOf } from '../../remote/index.ts'
import type { FromBody, ToBody } from './body-program.ts'

type Ready = { readonly tools: Map<string, RemoteTool> } | { readonly problem: string }

interface LineEnd {
  tell(message: ToBody): void
  /** A body did not stop within its grace period. Returns its outcome; undefined if the program ends because of it. */
  giveUp(): BodyOutcome | undefined
}

/** The conversation with a program that runs bodies. */
export class BodyLine {
  readonly #end: LineEnd
  readonly #ready: Promise<Ready>
  #setReady: (ready: Ready) => void = () => undefined
  /** Each gets the messages about its body, and undefined when the program is gone. */
  readonly #listeners = new Map<number, (message: FromBody | undefined) => void>()
  #bodies = 0
  #isGone = false

  constructor(end: LineEnd) {
    this.#end = end
    this.#ready = new Promise((resolve) => {
      this.#setReady = resolve
    })
  }

  hear(message: FromBody): void {
    if (message.type === 'broken') this.#setReady({ problem: message.problem })
    else if (message.type !== 'ready') this.#listeners.get(message.id)?.(message)
    else {
      const own = message.tools.map(({ name, version, schema }) => ({
        name,
        version,
        schemaHash: schemaHashOf(schema),
      }))
      this.#setReady({ tools: new Map(own.map((tool) => [tool.name, tool])) })
    }
  }

  /** The program is gone, and with it all bodies. */
  hangUp(because: string): void {
    this.#isGone = true
    this.#setReady({ problem: because })
    for (const listener of this.#listeners.values()) listener(undefined)
  }

  /** The tools of the module, or why it could not be loaded. */
  async load(): Promise<RemoteTool[] | string> {
    const ready = await this.#ready
    return 'problem' in ready ? ready.problem : [...ready.tools.values()]
  }

  /** Undefined if the program ended before the body did. Never rejects. */
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

  async #follow({ tool, toolUseID, input, context, signal, abortGraceMs, onProgress }: RemoteCall) {
    const id = ++this.#bodies
    let grace: ReturnType<typeof setTimeout> | undefined
    let isGivenUp = false
    let end: (outcome: BodyOutcome | undefined) => void = () => undefined
    const stop = (): void => {
      this.#end.tell({ type: 'abort', id, reason: reasonOf(signal.reason) })
      grace = setTimeout(() => {
        isGivenUp = true
        const outcome = this.#end.giveUp()
        if (outcome !== undefined) end(outcome)
      }, abortGraceMs)
    }
    const ended = new Promise<BodyOutcome | undefined>((resolve) => {
      end = resolve
    })
    this.#listeners.set(id, (message) => {
      if (message === undefined) end(undefined)
      else if (message.type === 'progress') onProgress(message.data)
      else if (message.type === 'outcome') end(message.outcome)
    })
    if (this.#isGone) end(undefined)
    this.#end.tell({ type: 'run', id, tool: tool.name, toolUseID, input, context })
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    const outcome = await ended
    this.#listeners.delete(id)
    clearTimeout(grace)
    signal.removeEventListener('abort', stop)
    if (outcome !== undefined || !isGivenUp) return outcome
    const message = 'The body did not stop within its grace period and was killed.'
    return { status: 'threw', error: { name: 'AbortError', message } } as const
  }
}

/** Only what JSON can carry. */
const reasonOf = (reason: unknown): string =>
  typeof reason === 'string' ? reason : reason instanceof Error ? reason.message : 'abort'
