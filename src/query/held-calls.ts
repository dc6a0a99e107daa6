import type { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { AttemptHost } from './attempt.ts'

/** When a call of a reply may start: at the end of its own block, when the next one begins, or at the end of the reply. */
export type StartWhen = NonNullable<AnyTool['startWhen']>

/** The calls of a reply that wait in their executor until the reply has come further. */
export class HeldCalls {
  readonly #executor: Pick<StreamingToolExecutor, 'release' | 'withdraw'>
  readonly #host: Pick<AttemptHost, 'isBatch' | 'findTool'>
  readonly #held = new Map<string, StartWhen>()

  constructor(
    executor: Pick<StreamingToolExecutor, 'release' | 'withdraw'>,
    host: Pick<AttemptHost, 'isBatch' | 'findTool'>,
  ) {
    this.#executor = executor
    this.#host = host
  }

  /** `isBare`: the call came without arguments. */
  startWhen(name: string, isSafe: boolean, isBare: boolean): StartWhen {
    if (this.#host.isBatch) return 'turnEnded'
    const startWhen = this.#host.findTool(name)?.startWhen ?? (isSafe ? 'closed' : 'nextBlock')
    // no arguments, or cut off before the first: only the following events can tell
    return isBare && startWhen === 'closed' ? 'nextBlock' : startWhen
  }

  add(id: string, startWhen: StartWhen): void {
    if (startWhen !== 'closed') this.#held.set(id, startWhen)
  }

  /** Starts the calls that waited for one of these moments. */
  release(...moments: StartWhen[]): void {
    for (const [id, startWhen] of this.#held) {
      if (!moments.includes(startWhen)) continue
      this.#held.delete(id)
      this.#executor.release(id)
    }
  }

  /** The calls that still wait never start. */
  withdraw(reason: string): void {
    for (const id of this.#held.keys()) this.#executor.withdraw(id, reason)
    this.#held.clear()
  }

  clear(): void {
    this.#held.clear()
  }
}
