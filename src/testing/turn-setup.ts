import { aFunction, anArray, anObject, isFunction, oneOf } from '../base/option-rules.ts'
import type { ExecutorOptions } from '../executor/options.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import type { Invariant } from './invariant.ts'
import type { OptionRules } from './option-rules.ts'
import type { TurnEvidence } from './turn-evidence.ts'

/** A call that the model will request. */
export interface PlannedCall {
  /** @default a, b, c, … */
  readonly id?: string | undefined
  /** The name of its tool; it need not exist. */
  readonly tool: string
  readonly input?: unknown
  /** The call waits for its release. @default false */
  readonly hold?: boolean | undefined
}

/**
 * Waits until the story continues here. The label appears in the story. With the signal of a call, an abort ends the wait
 * with its reason, as it does for `fetch`.
 */
export type Hold = (label: string, signal?: AbortSignal) => Promise<void>

/** The events of a turn besides calls that finish. */
export interface Happenings {
  readonly failure?: boolean | undefined
  readonly progress?: boolean | undefined
  readonly interrupt?: boolean | undefined
  readonly abort?: boolean | undefined
  readonly discard?: boolean | undefined
  /** An abort by the host's own controller. @default false */
  readonly hostAbort?: boolean | undefined
  /** Time passes, so that timeouts and graces end. */
  readonly time?: boolean | undefined
  /** Readers that wait and may leave; a number is the maximum at once. @default 1 */
  readonly reader?: boolean | number | undefined
  /** Bodies that report a lot at once. @default false */
  readonly flood?: boolean | undefined
  /** Bodies that throw a value that is not an Error. @default false */
  readonly strange?: boolean | undefined
  /** Results over `maxResultSizeChars`, and a result store that works or fails. @default false */
  readonly long?: boolean | undefined
  /** Hooks and the host may change the input: with your function, or by adding a marker. @default false */
  readonly rewrite?: boolean | ((input: unknown) => Record<string, unknown>) | undefined
  /** Results that change the context for the calls after them. @default false */
  readonly modifier?: boolean | undefined
  /** Results may be taken at any time, not only at the end. */
  readonly reading?: boolean | undefined
}

/** The setup of a small turn. */
export interface TurnSetup {
  /**
   * The tools. In a list, their bodies are held and everything else is real. As a function of `hold`, the bodies are real
   * too and wait at each `await hold('…')`; the function is called again for every story.
   */
  readonly tools: readonly AnyTool[] | ((hold: Hold) => readonly AnyTool[])
  readonly calls: readonly PlannedCall[]
  /** `'all'`: the story controls validation, hooks and permission too. @default 'bodies' */
  readonly phases?: 'bodies' | 'all' | undefined
  /** `'together'`: all calls are added at the start. @default 'anyTime' */
  readonly arrival?: 'anyTime' | 'together' | undefined
  /** @default all, except those with a default of their own */
  readonly happenings?: Happenings | undefined
  /** Replaces the built-in invariants. To add one: `[...turnInvariants, mine]`. */
  readonly invariants?: readonly Invariant[] | undefined
  /** Called at the end of each story, after all results are handed over, with the whole turn. Throw to report a breach. */
  readonly atEnd?: ((turn: TurnEvidence) => void) | undefined
  /** Additional state for the fingerprint: with real tools, whatever they changed. */
  readonly state?: (() => unknown) | undefined
  readonly context?: Omit<Partial<ToolUseContext>, 'abortController'> | undefined
  readonly options?: Omit<ExecutorOptions, 'clock' | 'uuid'> | undefined
}

export const turnRules: OptionRules<TurnSetup> = {
  tools: [(value) => Array.isArray(value) || isFunction(value), 'an array of tools, or a function that makes one'],
  calls: anArray,
  phases: oneOf('bodies', 'all'),
  arrival: oneOf('anyTime', 'together'),
  happenings: anObject,
  invariants: anArray,
  atEnd: aFunction,
  state: aFunction,
  context: anObject,
  options: anObject,
}

export const idOf = ({ id }: PlannedCall, index: number): string => id ?? letters(index)

const letters = (index: number): string =>
  index < 26 ? String.fromCharCode(97 + index) : `${letters(Math.floor(index / 26) - 1)}${letters(index % 26)}`
