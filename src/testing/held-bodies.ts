import type { AnyTool, OnProgress, ToolResult } from '../tool/tool.ts'
import type { ToolCallContext } from '../tool/tool-use-context.ts'
import type { EvidenceBook } from './evidence-book.ts'
import type { SimulatedClock } from './simulated-clock.ts'
import type { BodyEvidence } from './turn-evidence.ts'
import type { Hold } from './turn-setup.ts'

export interface HeldBody extends BodyEvidence {
  readonly id: string
  /** The input of the body. */
  readonly input: unknown
  /** Its result changes the context. */
  modifies: boolean
  /** When it was aborted. */
  toldAtMs: number | undefined
  endedAtMs: number | undefined
  finish(result?: Partial<ToolResult>): void
  fail(error: unknown): void
  report(data?: unknown): void
}

/** A point at which a real body waits for the story. */
interface HeldPoint {
  readonly label: string
  readonly name: string
  goOn(): void
}

/** The bodies of a turn, held or real, and their evidence. */
export class HeldBodies {
  readonly byId = new Map<string, HeldBody>()
  points: HeldPoint[] = []
  readonly tools: readonly AnyTool[]
  readonly isReal: boolean
  readonly #book: Pick<EvidenceBook, 'find'>
  readonly #clock: SimulatedClock
  readonly #graceMs: number

  constructor(
    given: readonly AnyTool[] | ((hold: Hold) => readonly AnyTool[]),
    book: Pick<EvidenceBook, 'find'>,
    clock: SimulatedClock,
    graceMs: number,
  ) {
    this.#book = book
    this.#clock = clock
    this.#graceMs = graceMs
    this.isReal = typeof given === 'function'
    const tools = typeof given === 'function' ? given((label, signal) => this.#hold(label, signal)) : given
    this.tools = tools.map((tool) => this.#heldOf(tool))
  }

  #heldOf(tool: AnyTool): AnyTool {
    const call: AnyTool['call'] = (input, context, canUseTool, message, onProgress) => {
      const body = this.#begin(input, context, onProgress)
      if (!this.isReal) return body.promise
      const report: OnProgress = (progress) => body.report(progress?.data)
      return this.#follow(body, tool.call(input, context, canUseTool, message, report) as Promise<ToolResult>)
    }
    return { ...tool, call }
  }

  #begin(
    input: unknown,
    context: ToolCallContext,
    onProgress: OnProgress,
  ): HeldBody & { promise: Promise<ToolResult> } {
    const id = context.toolUseID
    const { signal } = context.abortController
    let settle = { resolve: (_: ToolResult): void => undefined, reject: (_: unknown): void => undefined }
    const promise = new Promise<ToolResult>((resolve, reject) => {
      settle = { resolve, reject }
    })
    const clock = this.#clock
    const graceMs = this.#graceMs
    const end = (ok: boolean, says: string): void => {
      body.isRunning = false
      body.endedAtMs = clock.now()
      if (!body.isAbandoned) body.outcome ??= { ok, wasTold: signal.aborted, says }
    }
    const body = {
      id,
      input,
      modifies: false,
      promise,
      starts: (this.byId.get(id)?.starts ?? 0) + 1,
      isRunning: true,
      endedAtMs: undefined as number | undefined,
      get isAbandoned() {
        return body.toldAtMs !== undefined && (body.endedAtMs ?? clock.now()) - body.toldAtMs >= graceMs
      },
      outcome: undefined as BodyEvidence['outcome'],
      reported: this.byId.get(id)?.reported ?? 0,
      signal,
      toldAtMs: undefined as number | undefined,
      finish: (result?: Partial<ToolResult>) => {
        end(true, `${id} done`)
        settle.resolve({ data: `${id} done`, ...result })
      },
      fail: (error: unknown) => {
        end(false, error instanceof Error ? error.message : '')
        settle.reject(error)
      },
      report: (data?: unknown) => {
        if (!body.isAbandoned) body.reported++
        onProgress({ toolUseID: id, data: data ?? body.reported })
      },
    }
    signal.addEventListener('abort', () => {
      body.toldAtMs ??= this.#clock.now()
    })
    this.byId.set(id, body)
    const seen = this.#book.find(id)
    if (seen !== undefined) seen.body = body
    return body
  }

  #hold(label: string, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const same = this.points.filter((point) => point.label === label).length
      const point: HeldPoint = {
        label,
        name: same === 0 ? label : `${label} (${same + 1})`,
        goOn: () => {
          leave()
          resolve()
        },
      }
      const leave = (): void => {
        this.points = this.points.filter((each) => each !== point)
        signal?.removeEventListener('abort', stop)
      }
      const stop = (): void => {
        leave()
        reject(signal?.reason)
      }
      this.points.push(point)
      signal?.addEventListener('abort', stop)
      if (signal?.aborted === true) stop()
    })
  }

  async #follow(body: HeldBody, returned: Promise<ToolResult>): Promise<ToolResult> {
    let ok = false
    try {
      const result = await returned
      ok = true
      return result
    } finally {
      body.isRunning = false
      body.endedAtMs = this.#clock.now()
      if (!body.isAbandoned) body.outcome ??= { ok, wasTold: body.signal.aborted }
    }
  }
}

interface Timed {
  readonly clock: SimulatedClock
  readonly bodies: HeldBodies
  readonly graceMs: number
}

/** The time until the next timer, or until a body's grace ends, whether or not a timer is set for it. */
export function nextDue({ clock, bodies, graceMs }: Timed): number | undefined {
  const graces = [...bodies.byId.values()].flatMap(({ isRunning, isAbandoned, toldAtMs }) =>
    isRunning && !isAbandoned && toldAtMs !== undefined ? [toldAtMs + graceMs - clock.now()] : [],
  )
  const all = clock.nextDueIn === undefined ? graces : [clock.nextDueIn, ...graces]
  return all.length === 0 ? undefined : Math.min(...all)
}
