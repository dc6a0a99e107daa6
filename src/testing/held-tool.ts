import { z } from 'zod'
import type { AnyTool, OnProgress, Tool, ToolCallContext, ToolResult } from '../index.ts'

export interface HeldRun {
  readonly id: string
  readonly input: Record<string, unknown>
  readonly context: ToolCallContext
  readonly progress: (data: unknown) => void
  finish(result?: Partial<ToolResult>): void
  fail(error: unknown): void
}

export interface HeldTool {
  readonly tool: AnyTool
  /** Ids in the order in which their bodies started. */
  readonly started: string[]
  /** The run of a call whose body has started. */
  run(id: string): HeldRun
}

export interface HeldToolOptions extends Partial<Omit<Tool, 'call' | 'name'>> {
  safe?: boolean
  cancel?: boolean
  /** Settles when its signal aborts, as a well-behaved tool does. */
  obedient?: boolean
}

/** A tool whose calls finish, fail and report when the test decides. */
export function heldTool(
  name: string,
  { safe = false, cancel = false, obedient = false, ...rest }: HeldToolOptions = {},
): HeldTool {
  const runs = new Map<string, HeldRun>()
  const started: string[] = []
  const tool: AnyTool = {
    name,
    inputSchema: z.looseObject({}),
    isConcurrencySafe: () => safe,
    interruptBehavior: () => (cancel ? 'cancel' : 'block'),
    ...rest,
    call: (input: Record<string, unknown>, context: ToolCallContext, _canUse, _message, onProgress: OnProgress) =>
      new Promise<ToolResult>((resolve, reject) => {
        const id = context.toolUseID
        started.push(id)
        runs.set(id, {
          id,
          input,
          context,
          progress: (data) => onProgress({ toolUseID: id, data }),
          finish: (result) => resolve({ data: `${id} done`, ...result }),
          fail: reject,
        })
        const { signal } = context.abortController
        if (obedient) signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      }),
  }
  return {
    tool,
    started,
    run(id) {
      const run = runs.get(id)
      if (run === undefined) throw new Error(`the body of ${id} was never started`)
      return run
    },
  }
}

/** Tools of every kind that the rules distinguish: the default for `simulate`. */
export const troublesomeTools = (): AnyTool[] =>
  [
    heldTool('Read', { safe: true }),
    heldTool('Search', { safe: true, cancel: true }),
    heldTool('Edit'),
    heldTool('Fetch', { cancel: true }),
    heldTool('Bash', { cancelsSiblingsOnError: true }),
    heldTool('Probe', { safe: true, cancelsSiblingsOnError: true }),
    heldTool('Slow', { safe: true, timeout: { totalMs: 500, idleMs: 200 } }),
    heldTool('Flaky', { retry: { attempts: 2, backoffMs: 10 } }),
  ].map(({ tool }) => ({ ...tool, maxResultSizeChars: 400 }))
