import { callOf } from '../pipeline/detaching.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import { Account } from '../usage/account.ts'
import { type Prices, readTokens } from '../usage/usage-total.ts'
import type { QueryOptions } from './options.ts'
import type { QueryLoop } from './query-loop.ts'

/** A request that is under way. */
export interface OpenRequest {
  readonly startedAt: number
  /** False for the rest of a request, whose first part the service has dropped. */
  readonly isNew: boolean
}

/** The account of a run: inside that of its session, or of the run whose call it works for. */
export function accountOf({ prices, account, context }: Omit<QueryOptions, 'messages'>): Account {
  if (account !== undefined) return new Account({ prices, parent: account })
  return agentAccount(context, true, prices) ?? new Account({ prices })
}

/** The account of a run inside a call; undefined where there is no call. `isNew`: it has not begun in an earlier process. */
export function agentAccount(
  context: Partial<ToolUseContext> | undefined,
  isNew: boolean,
  prices?: Prices,
): Account | undefined {
  const parent = callOf(context)?.executor.account
  if (parent === undefined) return undefined
  if (isNew) parent.agent()
  return new Account({ prices, parent })
}

export function beginRequest(loop: QueryLoop): void {
  loop.openRequest = { startedAt: loop.idsAndTime.now(), isNew: true }
}

/** Counts the request, once. `isTurn`: the reply counts. */
export function endRequest(loop: QueryLoop, { isTurn, isRetried }: { isTurn: boolean; isRetried: boolean }): void {
  const { openRequest, reply, attempt, account, choice } = loop
  if (openRequest === undefined) return
  loop.openRequest = undefined
  const asked = choice.model.info?.name
  const { hasInput: _hasInput, hasOutput: _hasOutput, ...tokens } = readTokens(reply.usage)
  account.request({
    model: attempt.reply.model ?? asked ?? 'unknown',
    asked,
    tokens,
    ms: Math.max(0, loop.idsAndTime.now() - openRequest.startedAt),
    // a request that failed before its reply began is no turn
    isTurn: isTurn && reply.id !== undefined,
    isRetried,
    isNew: openRequest.isNew,
  })
}

/** The service drops its reply and goes on with another one, within the same request. */
export function splitRequest(loop: QueryLoop): void {
  if (loop.openRequest === undefined) return
  endRequest(loop, { isTurn: false, isRetried: true })
  loop.openRequest = { startedAt: loop.idsAndTime.now(), isNew: false }
}
