import { clearTimer } from '../base/clock.ts'
import { copyInput } from '../base/copy-input.ts'
import { describeError } from '../base/describe-error.ts'
import { whenSettled } from '../base/when-settled.ts'
import type { HookEvent, HookInput } from '../hooks/hook.ts'
import type { ReadyHook } from '../hooks/hook-registry.ts'
import { type HookReply, readHookOutput } from '../hooks/hook-reply.ts'
import type { ToolCall } from './tool-call.ts'

/** The outcome of one hook. */
export type HookOutcome = { readonly hook: ReadyHook; readonly durationMs?: number } & (
  | { readonly status: 'said'; readonly word: HookReply }
  | { readonly status: 'failed'; readonly problem: string }
  | { readonly status: 'cancelled' }
)

/** One running hook. */
class HookRun {
  readonly hook: ReadyHook
  readonly startedAt: number
  timer: unknown
  outcome: HookOutcome | undefined
  #controller: AbortController | undefined

  constructor(hook: ReadyHook, startedAt: number) {
    this.hook = hook
    this.startedAt = startedAt
  }

  /** Created on first access: most hooks never use it, and it would cost more than the rest. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    return this.#controller.signal
  }

  abort(reason: unknown): void {
    this.#controller ??= new AbortController()
    this.#controller.abort(reason)
  }
}

/** The hooks of one event, run in parallel. Their outcomes are in the order of registration. */
export class HookRuns {
  readonly #call: ToolCall
  readonly #event: HookEvent
  readonly #done: (outcomes: HookOutcome[]) => void
  readonly #runs: HookRun[]
  #isDone = false

  constructor(call: ToolCall, event: HookEvent, hooks: readonly ReadyHook[], done: (outcomes: HookOutcome[]) => void) {
    this.#call = call
    this.#event = event
    this.#done = done
    const startedAt = call.executor.settings.idsAndTime.now()
    this.#runs = hooks.map((hook) => new HookRun(hook, startedAt))
  }

  /** Each hook gets its own input, so that a hook that changes it does not affect the others. */
  start(inputFor: () => HookInput): void {
    this.#call.executor.account?.begin()
    for (const run of this.#runs) if (!this.#isDone) this.#startOne(run, inputFor)
    this.#check()
  }

  /** Cancels the hooks that still run. */
  cancel(reason: unknown): HookOutcome[] {
    const running = this.#runs.filter(({ outcome }) => outcome === undefined)
    for (const run of running) {
      run.outcome = { hook: run.hook, status: 'cancelled' }
      // the hook's abort listeners are user code
      this.#call.executor.push(() => this.#leave(run, reason))
    }
    if (!this.#isDone) this.#call.executor.account?.end()
    this.#isDone = true
    return this.#runs.map(({ outcome }) => outcome as HookOutcome)
  }

  #startOne(run: HookRun, inputFor: () => HookInput): void {
    const { hook } = run
    const { clock } = this.#call.executor.settings
    const timedOut = () => {
      this.#settle(run, { hook, status: 'failed', problem: `it took longer than ${hook.timeoutMs / 1_000} s` })
      run.abort('timeout')
    }
    whenSettled(
      () => {
        run.timer = clock.setTimeout(timedOut, hook.timeoutMs)
        return hook.run(inputFor(), this.#call.id, signalOf(run))
      },
      (output) => this.#settle(run, this.#read(hook, output)),
      (error) => this.#settle(run, { hook, status: 'failed', problem: describeError(error, 'The hook') }),
    )
  }

  /** The output may be anything, and reading it may throw. `updatedInput` is copied, because the hook may keep a reference. */
  #read(hook: ReadyHook, output: unknown): HookOutcome {
    try {
      const reading = readHookOutput(output, this.#event)
      if (!reading.ok) return { hook, status: 'failed', problem: reading.problem }
      const { word } = reading
      if (word.updatedInput === undefined) return { hook, status: 'said', word }
      const copied = copyInput(word.updatedInput, this.#call.executor.settings.maxInputChars)
      if (!copied.ok) return { hook, status: 'failed', problem: 'its updatedInput is too large' }
      return { hook, status: 'said', word: { ...word, updatedInput: copied.copy as Record<string, unknown> } }
    } catch (error) {
      return { hook, status: 'failed', problem: `its return value cannot be read. ${describeError(error, 'It')}` }
    }
  }

  #settle(run: HookRun, outcome: HookOutcome): void {
    if (run.outcome !== undefined) return
    const { clock, idsAndTime } = this.#call.executor.settings
    run.outcome = Object.assign(outcome, { durationMs: Math.max(0, idsAndTime.now() - run.startedAt) })
    clearTimer(clock, run.timer)
    this.#check()
  }

  #leave(run: HookRun, reason: unknown): void {
    clearTimer(this.#call.executor.settings.clock, run.timer)
    run.abort(reason)
  }

  #check(): void {
    if (this.#isDone || this.#runs.some(({ outcome }) => outcome === undefined)) return
    this.#isDone = true
    this.#call.executor.account?.end()
    this.#done(this.#runs.map(({ outcome }) => outcome as HookOutcome))
  }
}

const signalOf = (run: HookRun) => ({
  get signal(): AbortSignal {
    return run.signal
  },
})
