import type { ExecutorOptions } from '../executor/options.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import type { Invariant } from './invariant.ts'

/** A call that the model will ask for. */
export interface PlannedCall {
  /** @default a, b, c, … */
  readonly id?: string | undefined
  /** The name of its tool; it need not exist. */
  readonly tool: string
  readonly input?: unknown
  /** It waits for its release. @default false */
  readonly hold?: boolean | undefined
}

/** Waits until the story goes on here. The label stands in the story. */
export type Hold = (label: string) => Promise<void>

/** What may happen in a turn beside its calls coming to their ends. */
export interface Happenings {
  readonly failure?: boolean | undefined
  readonly progress?: boolean | undefined
  readonly interrupt?: boolean | undefined
  readonly abort?: boolean | undefined
  readonly discard?: boolean | undefined
  /** An abort by the host's own controller. @default false */
  readonly hostAbort?: boolean | undefined
  /** Time passes, so that limits and graces end. */
  readonly time?: boolean | undefined
  /** Readers that wait, and may leave: so many at once. @default 1 */
  readonly reader?: boolean | number | undefined
  /** Bodies that report a lot at once. @default false */
  readonly flood?: boolean | undefined
  /** Bodies that throw something that is no error. @default false */
  readonly strange?: boolean | undefined
  /** Results that are too long for the model, and a store that keeps them or fails. @default false */
  readonly long?: boolean | undefined
  /** Hooks before calls, and the host, that change the input; by a function of yours, or by a mark. @default false */
  readonly rewrite?: boolean | ((input: unknown) => Record<string, unknown>) | undefined
  /** Results that change the context for the calls after them. @default false */
  readonly modifier?: boolean | undefined
  /** Results are taken whenever they can be, not only at the end. */
  readonly reading?: boolean | undefined
}

/** A small turn, before anything has happened in it. */
export interface TurnSetup {
  /**
   * The tools: in a list, their bodies are held and everything else about them is real. Given as a function of `hold`,
   * the bodies are real too, and wait wherever they `await hold('…')`; it is called anew for every telling.
   */
  readonly tools: readonly AnyTool[] | ((hold: Hold) => readonly AnyTool[])
  readonly calls: readonly PlannedCall[]
  /** `'all'`: validation, hooks and permission wait for the story too. @default 'bodies' */
  readonly phases?: 'bodies' | 'all' | undefined
  /** `'together'`: all calls are there from the start. @default 'anyTime' */
  readonly arrival?: 'anyTime' | 'together' | undefined
  /** @default all of them, except where they say otherwise */
  readonly happenings?: Happenings | undefined
  /** In place of the built-in ones: start from `[...turnInvariants, mine]` to add. */
  readonly invariants?: readonly Invariant[] | undefined
  /** Called when a telling is over, everything handed over: throw where something of yours is wrong. */
  readonly atEnd?: (() => void) | undefined
  /** What else makes a difference: with tools that are real, whatever they changed. */
  readonly state?: (() => unknown) | undefined
  readonly context?: Omit<Partial<ToolUseContext>, 'abortController'> | undefined
  readonly options?: Omit<ExecutorOptions, 'clock' | 'uuid'> | undefined
}

export const idOf = ({ id }: PlannedCall, index: number): string => id ?? letters(index)

const letters = (index: number): string =>
  index < 26 ? String.fromCharCode(97 + index) : `${letters(Math.floor(index / 26) - 1)}${letters(index % 26)}`
