import { aFlag, anArray, anIntegerFrom, anObject } from '../base/option-rules.ts'
import type { QueryOptions } from '../query/options.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { OptionRules } from './option-rules.ts'
import type { QueryInvariant } from './query-invariants.ts'

/** A call in a reply of the model. */
export interface ScriptedCall {
  /** The name of its tool; it need not exist. */
  readonly call: string
  readonly input?: unknown
}

/** The events of a query besides replies and calls that finish. */
export interface QueryHappenings {
  /** Bodies that fail. */
  readonly failure?: boolean | undefined
  /** The model is overloaded, its stream breaks, its reply is truncated, or the service restarts it. */
  readonly modelTrouble?: boolean | undefined
  /** The model rejects the request, without a retry. */
  readonly modelError?: boolean | undefined
  /** The user interrupts without a message. */
  readonly interrupt?: boolean | undefined
  /** The user interrupts with a new message. */
  readonly steer?: boolean | undefined
  /** The user sends a message without interrupting. @default false */
  readonly send?: boolean | undefined
  readonly abort?: boolean | undefined
  /** Calls go to the background. @default false */
  readonly detach?: boolean | undefined
  /** An abort by the host's own controller. @default false */
  readonly hostAbort?: boolean | undefined
  /** The reader leaves the loop. */
  readonly readerLeaves?: boolean | undefined
  /** Time passes, so that timeouts, graces and backoffs end. */
  readonly time?: boolean | undefined
}

/** The setup of a small conversation. */
export interface QuerySetup {
  /** Their bodies are held; everything else is real. */
  readonly tools: readonly AnyTool[]
  /** The model's replies in order: texts and calls. After the last one, the model replies that it is done. */
  readonly replies: readonly (string | readonly (string | ScriptedCall)[])[]
  /** @default all, except those with a default of their own */
  readonly happenings?: QueryHappenings | undefined
  /** How many times a model may fail in one story. @default 1 */
  readonly maxTroubles?: number | undefined
  /** Replaces the built-in invariants. To add one: `[...queryInvariants, mine]`. */
  readonly invariants?: readonly QueryInvariant[] | undefined
  /** Whether a fallback model exists. @default false */
  readonly hasFallback?: boolean | undefined
  readonly options?:
    | Omit<QueryOptions, 'messages' | 'tools' | 'model' | 'fallbackModel' | 'executor' | 'context'>
    | undefined
  readonly context?: Omit<NonNullable<QueryOptions['context']>, 'abortController'> | undefined
  readonly executor?: Omit<NonNullable<QueryOptions['executor']>, 'clock' | 'uuid'> | undefined
}

export const queryRules: OptionRules<QuerySetup> = {
  tools: anArray,
  replies: anArray,
  happenings: anObject,
  maxTroubles: anIntegerFrom(0),
  invariants: anArray,
  hasFallback: aFlag,
  options: anObject,
  context: anObject,
  executor: anObject,
}

/** The calls in the replies of a model. */
export const calledIn = (replies: QuerySetup['replies']): { readonly tool: string; readonly input?: unknown }[] =>
  replies.flat().flatMap((item) => (typeof item === 'string' ? [] : [{ tool: item.call, input: item.input }]))
