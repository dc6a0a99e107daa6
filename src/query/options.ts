import type { BackgroundCalls } from '../background/background-calls.ts'
import { invalidOption, unknownOption } from '../base/invalid-option.ts'
import {
  aFunction,
  aNumberFrom,
  anIntegerFrom,
  checkOption,
  isFunction,
  milliseconds,
  type OptionRule,
  oneOf,
  or,
  positiveMilliseconds,
  requireOption,
} from '../base/option-rules.ts'
import { assertCanUseTool } from '../executor/check-context.ts'
import type { ExecutorOptions } from '../executor/options.ts'
import type { RunLog } from '../journal/run-log.ts'
import { createAssistantMessage, createUserMessage } from '../messages/create-messages.ts'
import { isContent, isSendable } from '../messages/is-content.ts'
import type { BlockLike, Message, MessageLike, UserMessage } from '../messages/message.ts'
import type { ApiMessage } from '../messages/to-api-messages.ts'
import type { Model } from '../models/model.ts'
import type { CanUseTool } from '../tool/permission.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import type { Account } from '../usage/account.ts'
import { checkLimits, type Limits } from '../usage/limits.ts'
import type { Prices } from '../usage/usage-total.ts'
import { checkLoopGuard, type LoopGuardOptions } from './loop-guard.ts'

/** How a failed model is retried. */
export interface ModelRetry {
  /**
   * The number of retries for each reply, when the model is overloaded, unreachable or silent.
   * @default 2
   */
  attempts?: number | undefined
  /**
   * The delay before each retry in milliseconds, unless the service sets one.
   * @default 500, then twice as long each time, at most 30,000
   */
  backoffMs?: number | ((failedAttempts: number) => number) | undefined
}

export interface QueryOptions {
  /** The conversation so far: a prompt, messages of Signalbox, or messages of the Messages API. */
  messages: string | readonly (Message | MessageLike)[]
  /** The tools, or a function that returns the current tools, called before each turn. */
  tools: readonly AnyTool[] | (() => readonly AnyTool[])
  model: Model
  /** Replaces `model` for the rest of the query when `model` fails repeatedly. */
  fallbackModel?: Model | undefined
  retry?: ModelRetry | undefined
  /** Answers whether a call may run; without it, every call that needs an answer is denied. */
  canUseTool?: CanUseTool | undefined
  /** The context for tools: permissions, hooks, the host's `abortController`, and anything else. */
  context?: Partial<ToolUseContext> | undefined
  system?: string | readonly BlockLike[] | undefined
  /**
   * The maximum number of replies of this run. `limits.turns` counts those of agents and, in a session, of all runs.
   * @default Infinity
   */
  maxTurns?: number | undefined
  /**
   * `'streaming'` starts calls while the model still streams, `'batch'` after its reply.
   * @default 'streaming'
   */
  toolExecution?: 'streaming' | 'batch' | undefined
  /**
   * Whether to yield the events of the model's stream, for user interfaces.
   * @default false
   */
  includeStreamEvents?: boolean | undefined
  /**
   * How long a model may be silent in the middle of a reply, in milliseconds.
   * @default 120_000
   */
  streamIdleMs?: number | undefined
  /** Changes the messages for the model, for example with `compactToolResults`; the transcript keeps everything. */
  prepareMessages?: ((messages: readonly Message[]) => readonly Message[] | Promise<readonly Message[]>) | undefined
  /**
   * What happens to calls in `messages` without a result, for example after a crash. `'answer'` tells the model that the
   * result was lost. `'run'` runs those of the last reply, if only results follow it.
   * @default 'answer'
   */
  openCalls?: 'answer' | 'run' | undefined
  /**
   * Asks before a call that repeats itself: the same tool with an equal input, after equal results. With nobody to ask, the
   * call is refused. Tools with `mayRepeat` are exempt.
   * @default { repeats: 3 }
   */
  loopGuard?: false | LoopGuardOptions | undefined
  /** Options for the executor of each turn. */
  executor?: ExecutorOptions | undefined
  /**
   * How many calls may be in the background at once. A call beyond it stays in its turn.
   * @default 20
   */
  maxBackground?: number | undefined
  /**
   * Limits on the whole query with its agents and background calls. What a request may use is reserved before it is made;
   * a limit that is reached ends everything with `{ reason: 'limit' }`.
   * @default none
   */
  limits?: Limits | undefined
  /** Prices by model, for the costs in `usage` and for `limits.costUsd`. */
  prices?: Prices | undefined
  /** The account of a session, which the session passes: what its runs use counts there. */
  account?: Account | undefined
  /** The background calls of a session, which the session passes: they outlive its runs. */
  background?: BackgroundCalls | undefined
  /** The log of a session, which `openSession` opens and closes: everything that counts is recorded there first. */
  journal?: RunLog | undefined
}

const names = new Set<string>([
  'messages',
  'tools',
  'model',
  'fallbackModel',
  'retry',
  'canUseTool',
  'context',
  'system',
  'maxTurns',
  'toolExecution',
  'includeStreamEvents',
  'streamIdleMs',
  'prepareMessages',
  'openCalls',
  'loopGuard',
  'executor',
  'maxBackground',
  'limits',
  'prices',
  'account',
  'background',
  'journal',
] satisfies (keyof QueryOptions)[])

/** Options that only a session passes. */
const internal = new Set<string>(['account', 'background', 'journal'] satisfies (keyof QueryOptions)[])

const rules = {
  fallbackModel: aFunction,
  prepareMessages: aFunction,
  maxTurns: aNumberFrom(1),
  streamIdleMs: positiveMilliseconds,
  toolExecution: oneOf('streaming', 'batch'),
  openCalls: oneOf('answer', 'run'),
  maxBackground: anIntegerFrom(0),
} satisfies { [Name in keyof QueryOptions]?: OptionRule }

const aBackoff = or(milliseconds, [isFunction, 'a function of the failed attempts'])

/**
 * Checked on entry, so that an invalid option throws at the call that passed it. `own`: further options of that call, which
 * it has checked itself.
 */
export function checkOptions(options: QueryOptions, own: readonly string[] = []): void {
  if (typeof options !== 'object' || options === null) invalidOption('query', 'an object of options', options)
  for (const key of Object.keys(options)) {
    if (!names.has(key))
      unknownOption(
        key,
        [...own, ...names].filter((name) => !internal.has(name)),
      )
  }
  const { model, retry } = options
  requireOption('model', model, aFunction)
  for (const [name, rule] of Object.entries(rules)) checkOption(name, options[name as keyof typeof rules], rule)
  if (retry !== undefined) checkRetry(retry)
  checkLoopGuard(options.loopGuard)
  checkLimits(options.limits, options.prices)
  assertCanUseTool(options.canUseTool)
}

function checkRetry(retry: ModelRetry): void {
  if (typeof retry !== 'object' || retry === null) return invalidOption('retry', '{ attempts, backoffMs }', retry)
  const { attempts, backoffMs } = retry
  checkOption('retry.attempts', attempts, anIntegerFrom(0))
  checkOption('retry.backoffMs', backoffMs, aBackoff)
}

/** The conversation so far, in our own message format. */
export function readMessages(given: QueryOptions['messages']): Message[] {
  if (typeof given === 'string') return [createUserMessage(given)]
  if (!Array.isArray(given)) return invalidOption('messages', 'a prompt or an array of messages', given)
  return given.map((message, index) => readMessage(message, index))
}

const ownTypes = new Set(['assistant', 'user', 'progress', 'attachment', 'system'])

const spoken = '{ role, content } of a user or an assistant (a system prompt is the option system)'

function readMessage(given: Message | MessageLike, index: number): Message {
  const { type } = Object(given) as { type?: string }
  const { role, content } = Object('message' in Object(given) ? (given as UserMessage).message : given) as ApiMessage
  const isSpoken = role === 'user' || role === 'assistant' || type === 'user' || type === 'assistant'
  const isOurs = type !== undefined && ownTypes.has(type)
  if (isSpoken ? !isContent(content) : !isOurs) {
    invalidOption(`messages[${index}]`, spoken, given)
  }
  if (isOurs) return given as Message
  if (role === 'user') return createUserMessage(content)
  return createAssistantMessage(typeof content === 'string' ? [{ type: 'text', text: content }] : content)
}

/** Reads a message that is sent during a query. */
export function readSent(message: string | readonly BlockLike[] | UserMessage): UserMessage {
  if (!isSendable(message)) invalidOption('message', 'a string, content blocks or a user message', message)
  return Object(message).type === 'user' ? (message as UserMessage) : createUserMessage(message as string)
}
