import type { LimitReached } from '../../machines/index.ts'
import { readOptions, type Settings } from '../executor/options.ts'
import { createSystemMessage } from '../messages/create-messages.ts'
import { callOf } from '../pipeline/detaching.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import { Account, type AccountOptions, type Claim } from '../usage/account.ts'
import { type CountedOf, type RequestSpent, readTokens, type TokenCounts } from '../usage/usage-total.ts'
import type { Attempt } from './attempt.ts'
import type { QueryOptions } from './options.ts'
import type { QueryLoop } from './query-loop.ts'

/** A request that is under way. */
export interface OpenRequest {
  readonly startedAt: number
  /** False for the rest of a request, whose first part the service has dropped. */
  readonly isNew: boolean
}

/** The account of an agent that is recorded. `isNew`: no earlier process has counted it. */
export function recordedAgentAccount(
  context: Partial<ToolUseContext>,
  { limits, executor }: Pick<QueryOptions, 'limits' | 'executor'>,
  session: string,
  isNew: boolean,
): Account | undefined {
  const { clock, idsAndTime } = readOptions(executor)
  return agentAccount(context, { session, isNew }, { limits, clock, now: idsAndTime.now })
}

/** The account of a run: inside that of its session, or of the run whose call it works for. */
export function accountOf(
  { prices, limits, account, context }: Omit<QueryOptions, 'messages'>,
  { clock, idsAndTime: { now } }: Pick<Settings, 'clock' | 'idsAndTime'>,
): Account {
  // the limits of a session hold for all its runs together
  if (account !== undefined) return new Account({ prices, parent: account })
  const own = { prices, limits, clock, now }
  return agentAccount(context, { isNew: true }, own) ?? new Account(own)
}

/** The account of a run inside a call; undefined where there is no call. */
function agentAccount(
  context: Partial<ToolUseContext> | undefined,
  { session, isNew }: { readonly session?: string; readonly isNew: boolean },
  own: Omit<AccountOptions, 'parent' | 'isAgent'>,
): Account | undefined {
  const parent = callOf(context)?.executor.account
  if (parent === undefined) return undefined
  if (isNew) parent.agent(session)
  return new Account({ ...own, parent, isAgent: true })
}

/** The calls of an agent are in its own log and, counted, in the log of the outermost session: a crash may come between. */
export const countedOf = ({ log, account }: QueryLoop, { reply }: Attempt): CountedOf | undefined =>
  log === undefined || account.depth === 0 ? undefined : { session: log.session, reply: reply.id }

export function beginRequest(loop: QueryLoop): void {
  const { account, claim, choice, log } = loop
  account.begin()
  if (claim !== undefined) account.open(claim, choice.model.info?.name ?? 'unknown', log?.session)
  loop.openRequest = { startedAt: loop.idsAndTime.now(), isNew: true }
}

/** Counts the request, once. `isTurn`: the reply counts. */
export function endRequest(loop: QueryLoop, { isTurn, isRetried }: { isTurn: boolean; isRetried: boolean }): void {
  const { openRequest, reply, attempt, account, choice, claim } = loop
  if (openRequest === undefined) return
  loop.openRequest = undefined
  loop.claim = undefined
  const asked = choice.model.info?.name
  const { hasInput, hasOutput, ...tokens } = readTokens(reply.usage)
  if (hasInput && account.needsInput) {
    const { inputTokens, cacheReadTokens, cacheWriteTokens } = tokens
    loop.lastInput = { tokens: inputTokens + cacheReadTokens + cacheWriteTokens, bytes: loop.requestBytes }
  }
  // the first count of a reply says only how it began
  const isCounted = hasOutput && reply.hasFinalUsage
  const spent: RequestSpent = {
    model: attempt.reply.model ?? asked ?? 'unknown',
    asked,
    tokens,
    assumed: reply.hasBegun ? assumedOf(claim, tokens, hasInput, isCounted) : undefined,
    ms: Math.max(0, loop.idsAndTime.now() - openRequest.startedAt),
    // a request that failed before its reply began is no turn
    isTurn: isTurn && reply.hasBegun,
    isRetried,
    isNew: openRequest.isNew,
  }
  account.request(spent, claim?.number)
  if (claim !== undefined) account.release(claim)
  account.end()
}

/** A reply without usage counts as all that it may have used. */
function assumedOf(
  claim: Claim | undefined,
  { outputTokens }: TokenCounts,
  hasInput: boolean,
  hasOutput: boolean,
): RequestSpent['assumed'] {
  if (claim === undefined || (hasInput && hasOutput)) return undefined
  const { inputTokens: input = 0, outputTokens: output = 0 } = claim.wanted
  return { input: hasInput ? 0 : input, output: hasOutput ? 0 : Math.max(0, output - outputTokens) }
}

/** The service drops its reply and goes on with another one, within the same request. */
export function splitRequest(loop: QueryLoop): void {
  const { openRequest, claim } = loop
  if (openRequest === undefined) return
  // what the request may use stays reserved for its other part
  loop.claim = undefined
  endRequest(loop, { isTurn: false, isRetried: true })
  loop.claim = claim
  loop.account.begin()
  loop.openRequest = { startedAt: loop.idsAndTime.now(), isNew: false }
}

/** The request is not made, or its run is over. */
export function dropClaim(loop: QueryLoop): void {
  const { claim, account } = loop
  loop.claim = undefined
  if (claim !== undefined) account.release(claim)
}

/** Time is up. Background calls of a session stop too: they would go on using it. */
export function stopForLimit({ executor, background, ownsBackground }: QueryLoop): void {
  executor.abort('limit')
  background.stopAll('limit', ownsBackground)
}

/** Tells the host that a limit is near. */
export function tellLimitNear(loop: QueryLoop, { limit, used, max }: LimitReached): void {
  const message = `${Math.round((used / max) * 100)} % of limits.${limit} are used: ${used} of ${max}.`
  loop.emit(createSystemMessage({ subtype: 'limit_warning', limit, used, max, message }, loop.idsAndTime))
}
