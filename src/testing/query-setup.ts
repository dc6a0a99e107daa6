import type { QueryOptions } from '../query/options.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { QueryInvariant } from './query-invariants.ts'

/** A call in a reply of the model. */
export interface ScriptedCall {
  /** The name of its tool; it need not exist. */
  readonly call: string
  readonly input?: unknown
}

/** What may happen in a query beside replies and calls coming to their ends. */
export interface QueryHappenings {
  /** Bodies that fail. */
  readonly failure?: boolean | undefined
  /** The model is overloaded, its stream breaks off, its reply is cut short, or the service begins it anew. */
  readonly modelTrouble?: boolean | undefined
  /** The model refuses the request for good. */
  readonly modelError?: boolean | undefined
  /** The user interrupts and has nothing more to say. */
  readonly interrupt?: boolean | undefined
  /** The user interrupts with something else to say. */
  readonly steer?: boolean | undefined
  /** The user sends something without interrupting. @default false */
  readonly send?: boolean | undefined
  readonly abort?: boolean | undefined
  /** An abort by the host's own controller. @default false */
  readonly hostAbort?: boolean | undefined
  /** Whoever reads leaves the loop. */
  readonly readerLeaves?: boolean | undefined
  /** Time passes, so that limits, graces and backoffs end. */
  readonly time?: boolean | undefined
}

/** A small conversation, before anything has happened in it. */
export interface QuerySetup {
  /** Their bodies are held; everything else about them is real. */
  readonly tools: readonly AnyTool[]
  /** What the model says, reply by reply: texts and calls. Asked once more, it says that it is done. */
  readonly replies: readonly (string | readonly (string | ScriptedCall)[])[]
  /** @default all of them, except where they say otherwise */
  readonly happenings?: QueryHappenings | undefined
  /** How often a model may be in trouble in one story. @default 1 */
  readonly maxTroubles?: number | undefined
  /** In place of the built-in ones: start from `[...queryInvariants, mine]` to add. */
  readonly invariants?: readonly QueryInvariant[] | undefined
  /** Whether there is another model for when this one fails. @default false */
  readonly hasFallback?: boolean | undefined
  readonly options?:
    | Omit<QueryOptions, 'messages' | 'tools' | 'model' | 'fallbackModel' | 'executor' | 'context'>
    | undefined
  readonly context?: Omit<NonNullable<QueryOptions['context']>, 'abortController'> | undefined
  readonly executor?: Omit<NonNullable<QueryOptions['executor']>, 'clock' | 'uuid'> | undefined
}
