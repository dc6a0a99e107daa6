import { describeValue } from '../base/describe-value.ts'
import { readField } from '../base/read-field.ts'
import type { DiscardedCall } from '../executor/calls-so-far.ts'
import type { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'
import { createSystemMessage } from '../messages/create-messages.ts'
import type { Attempt } from './attempt.ts'
import type { QueryLoop } from './query-loop.ts'
import { countedOf, endRequest, splitRequest } from './spending.ts'
import { reportReply } from './streaming.ts'

/** Waits until the delay is over and no body of an old attempt runs any more. */
export function startBackoff(loop: QueryLoop, delayMs: number): void {
  if (!loop.isFresh) loop.attempt = loop.newAttempt()
  loop.isFresh = true
  const delay = new Promise<void>((resolve) => {
    loop.backoff = loop.settings.clock.setTimeout(resolve, delayMs)
  })
  // an unsafe call of the next attempt must not run beside a body of this one
  void Promise.all([delay, loop.oldBodies.whenGone()]).then(() => loop.tell({ type: 'retry.due' }))
}

/** Discards the attempt, and reports to the host what had run. */
export function discardAttempt(loop: QueryLoop): void {
  loop.stream?.stop()
  endRequest(loop, { isTurn: false, isRetried: true })
  const old = loop.attempt
  const lost = old.discard()
  tellRetry(loop, lost)
  recordDiscard(loop, lost)
  loop.oldBodies.add(old.executor)
  loop.setup.revert()
  loop.attempt = loop.newAttempt()
  loop.isFresh = true
}

/** The same, while the stream continues: with another reply, or with another model that continues this reply's text. */
export function discardReply(loop: QueryLoop): void {
  splitRequest(loop)
  const old = loop.attempt
  const isHandedOver = loop.handedOver === old
  loop.setup.revert()
  const next = loop.newAttempt(isHandedOver ? old : undefined)
  const lost = old.discard(next)
  tellRetry(loop, lost)
  recordDiscard(loop, lost, next)
  loop.handedOver = undefined
  loop.oldBodies.add(old.executor)
  loop.attempt = next
  loop.onExecutor?.(loop.executor)
}

/** The model refused before any effects: its text is removed, because the service would reject a conversation with it. */
export function discardRefusal(loop: QueryLoop): void {
  reportReply(loop)
  endRequest(loop, { isTurn: false, isRetried: false })
  const old = loop.attempt
  const { stopReason, stopDetails } = old
  const lost = old.discard()
  loop.report(createSystemMessage({ subtype: 'model_refusal', stopDetails, ...lost }, loop.idsAndTime))
  recordDiscard(loop, lost)
  loop.oldBodies.add(old.executor)
  loop.setup.revert()
  loop.attempt = loop.newAttempt()
  Object.assign(loop.attempt, { stopReason, stopDetails })
}

/** The reply counts as far as it came, because the model must know of its effects. */
export function cutReply(loop: QueryLoop): void {
  loop.stream?.stop()
  endRequest(loop, { isTurn: true, isRetried: true })
  loop.handedOver = undefined
  tellRetry(loop, { discarded: [], calls: loop.executor.callsSoFar() })
  const { attempt, choice } = loop
  attempt.container = loop.reply.container
  attempt.cut(loop.reply.partialText())
  attempt.recordStop({
    isWhole: false,
    isCutOff: true,
    reports: loop.takeReports(),
    ...(choice.isFallback && { usesFallback: true }),
  })
}

function recordDiscard(loop: QueryLoop, { calls }: { calls: DiscardedCall[] }, next?: Attempt): void {
  const { attempt, choice, account } = loop
  account.recordWork(countedOf(loop, attempt))
  attempt.recordDiscard({ calls, reports: loop.takeReports(), ...(choice.isFallback && { usesFallback: true }) }, next)
}

/** Reports to the host why the model is asked again, which messages are discarded, and what had run. */
function tellRetry(loop: QueryLoop, lost: { discarded: string[]; calls: DiscardedCall[] }): void {
  const plan = loop.choice.takePlan()
  const why =
    plan === undefined
      ? restarted(loop)
      : { errorKind: plan.kind, error: textOf(loop.actor.getSnapshot().context.error) }
  const fields = {
    subtype: 'model_retry',
    ...why,
    delayMs: plan?.delayMs ?? 0,
    isFallback: plan?.recovery === 'fallBack',
    ...lost,
  }
  loop.report(createSystemMessage(fields, loop.idsAndTime))
}

const restarted = ({ handedOver }: QueryLoop) =>
  handedOver === undefined
    ? { errorKind: 'restarted', error: 'The service restarted its reply.' }
    : { errorKind: 'refusal', error: 'The model declined, and the service continues with another model.' }

const maxChars = 2_000

/** For people and for logs that leave the machine: without a stack trace. */
function textOf(error: unknown): string {
  const message = readField(error, 'message')
  if (typeof message !== 'string') return describeValue(error, maxChars)
  const name = readField(error, 'name')
  const text = `${typeof name === 'string' && name !== '' ? name : 'Error'}: ${message || '(no message)'}`
  return text.replace(/\n\s+at .*/g, '').slice(0, maxChars)
}

/** The bodies of discarded attempts that still run. */
export class OldBodies {
  #attempts = 0
  #gone: Promise<void> = Promise.resolve()

  add(executor: StreamingToolExecutor): void {
    this.#attempts++
    this.#gone = Promise.all([this.#gone, executor.whenIdle()]).then(() => {
      this.#attempts--
    })
  }

  /** Undefined if there are none, so that nothing has to wait. */
  whenGone(): Promise<void> | undefined {
    return this.#attempts === 0 ? undefined : this.#gone
  }
}
