import { whenSettled } from '../base/when-settled.ts'
import { createSystemMessage } from '../messages/create-messages.ts'
import type { ModelEvent } from '../models/model.ts'
import { ModelStream } from './model-stream.ts'
import type { QueryLoop } from './query-loop.ts'
import { ReplyAssembler, type ReplyPart } from './reply-assembler.ts'
import { beginRequest, endRequest } from './spending.ts'

const defaultIdleMs = 120_000
/** How long a stream may still send something, such as usage, after the stop reason. */
const afterStopMs = 5_000

/** Asks the model and processes its stream. */
export function openStream(loop: QueryLoop): void {
  if (!loop.isFresh) loop.attempt = loop.newAttempt()
  loop.isFresh = false
  loop.onExecutor?.(loop.executor)
  loop.reply = new ReplyAssembler()
  const { system, streamIdleMs = defaultIdleMs } = loop.options
  const stream = new ModelStream(loop.settings.clock, loop.idsAndTime.now, streamIdleMs, {
    event: (event) => onEvent(loop, event),
    ended: () => onEnd(loop),
    failed: (error) => onFailure(loop, error),
  })
  loop.stream = stream
  beginRequest(loop)
  const { requests } = loop
  whenSettled(
    () => requests.of(loop.request),
    (messages) =>
      stream.start(loop.choice.model, {
        messages,
        tools: loop.setup.tools.schemas,
        ...(system !== undefined && { system }),
        ...(requests.container !== undefined && { container: requests.container }),
      }),
    (error) => onFailure(loop, error),
  )
}

/** Handles an event as one step: a tool that ends the query while its call is being added ends it afterwards. */
function onEvent(loop: QueryLoop, event: unknown): Promise<void> | undefined {
  if (loop.options.includeStreamEvents === true) {
    loop.emit({ type: 'stream_event', uuid: loop.idsAndTime.uuid(), event: event as ModelEvent })
  }
  return takeParts(loop, loop.reply.take(event), event) ?? loop.outgoing.room()
}

function takeParts(loop: QueryLoop, parts: readonly ReplyPart[], event: unknown): Promise<void> | undefined {
  let pause: Promise<void> | undefined
  loop.run(() => {
    for (const part of parts) pause = takePart(loop, part, event) ?? pause
  })
  return pause
}

function takePart(loop: QueryLoop, part: ReplyPart, event: unknown): Promise<void> | undefined {
  const { attempt, stream } = loop
  if (part.type === 'failed') {
    stream?.stop()
    onFailure(loop, part.error)
  } else if (part.type === 'anotherReply') {
    // a reply with a stop reason is complete, whatever follows
    if (attempt.stopReason === undefined) return restart(loop, event)
    stream?.stop()
    onEnd(loop)
  } else if (part.type === 'handedOver') return handOver(loop)
  else attempt.take(part)
  if (part.type === 'stopped') stream?.expectEnd(afterStopMs)
  return undefined
}

/** The service begins another reply in the same stream. None of its calls may start before the old bodies have ended. */
async function restart(loop: QueryLoop, firstEvent?: unknown): Promise<void> {
  const { stream } = loop
  loop.tell({ type: 'stream.restarted', hasEffects: loop.executor.hasEffects })
  let parts: readonly ReplyPart[] = []
  await new Promise<void>((resolve) =>
    loop.push(() => {
      // a reply that counts as far as it came stops the stream, so there is no next reply
      if (firstEvent !== undefined && stream?.isOver === false) {
        loop.reply = new ReplyAssembler()
        parts = loop.reply.take(firstEvent)
        // at once, because an abort may come while the old bodies end: what has been used belongs to this reply
        for (const part of parts) if (part.type === 'started') loop.attempt.take(part)
      }
      resolve(loop.oldBodies.whenGone())
    }),
  )
  if (stream?.isOver === false) await takeParts(loop, parts, firstEvent)
}

/** Another model continues: the thinking and the calls of the model that declined must neither run nor be sent back. */
function handOver(loop: QueryLoop): Promise<void> | undefined {
  const { attempt } = loop
  if (!attempt.hasDeclinable) return undefined
  loop.handedOver = attempt
  return restart(loop)
}

function onEnd(loop: QueryLoop): void {
  const { attempt, choice } = loop
  const { stopReason, isWhole } = attempt
  if (stopReason === undefined) {
    const error = new Error("The model's stream ended before its reply was complete.")
    return onFailure(loop, Object.assign(error, { code: 'ECONNRESET' }))
  }
  if (stopReason === 'refusal') return onRefusal(loop)
  choice.succeeded()
  loop.tell({ type: 'stream.ended', isWhole })
}

/** The model refused; a fallback model may still be asked. */
function onRefusal(loop: QueryLoop): void {
  const { choice, executor } = loop
  const { hasEffects } = executor
  const recovery = choice.refused()
  const error = new Error('The model refused to continue.')
  if (recovery === 'fallBack') {
    reportReply(loop)
    return loop.tell({ type: 'stream.failed', error, recovery, delayMs: 0, hasEffects })
  }
  // the effects stay in the conversation, with the reply that requested them
  loop.tell(hasEffects ? { type: 'stream.ended', isWhole: false } : { type: 'stream.refused' })
}

function onFailure(loop: QueryLoop, error: unknown): void {
  // a reply with a stop reason is complete, even if its connection breaks
  if (loop.attempt.stopReason !== undefined) return onEnd(loop)
  const { recovery, delayMs } = loop.choice.failed(error)
  loop.tell({ type: 'stream.failed', error, recovery, delayMs, hasEffects: loop.executor.hasEffects })
}

/** The reply has ended: calls held for its end start now, or never. */
export function closeReply(loop: QueryLoop, isWhole: boolean): void {
  const { attempt } = loop
  reportReply(loop)
  endRequest(loop, { isTurn: true, isRetried: false })
  attempt.close(isWhole, loop.reply.partialText())
  attempt.recordStop({ isWhole, reports: loop.takeReports() })
}

/** Once per reply, when all its data is known. */
export function reportReply(loop: QueryLoop): void {
  const { stopReason, stopDetails, reply } = loop.attempt
  const { usage, container } = loop.reply
  loop.attempt.container = container
  if (stopReason === undefined) return
  const fields = {
    subtype: 'model_reply',
    messageId: reply.id,
    model: reply.model,
    stopReason,
    ...(stopDetails !== undefined && { stopDetails }),
    usage,
  }
  loop.report(createSystemMessage(fields, loop.idsAndTime))
}
