import type { CallContext } from '../../machines/index.ts'
import type { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'
import type { EvidenceBook } from './evidence-book.ts'
import type { HeldBodies } from './held-bodies.ts'
import type { HeldConversation } from './held-conversation.ts'
import type { HeldWorld } from './held-world.ts'

/**
 * All visible state that can affect what happens next: both charts, the schedule, the bodies, open waits, what readers
 * got, and the timers. Worlds with the same fingerprint are treated as equal.
 */
export function fingerprintOf(world: HeldWorld): string {
  const { executor, book, bodies, phases, clock, host, setup } = world
  const { value, context } = executor.actor.getSnapshot()
  const { run } = context
  return JSON.stringify([
    world.arrived,
    value,
    context.cause?.kind,
    run.cursor,
    run.completedUpTo,
    callsInShort(executor, book, bodies),
    [...phases.waits.values()].map(({ id, phase }) => [id, phase]).sort(),
    bodies.points.map(({ name }) => name).sort(),
    clock.dueIn,
    host.signal.aborted,
    world.readers.length,
    [...phases.agreed.keys()],
    world.modified,
    setup.state?.(),
  ])
}

/** All visible state that can affect what a query does next. */
export function queryFingerprint(world: HeldConversation): string {
  const { run, model, attempts, bodies, clock, host } = world
  const { value, context } = run.actor.getSnapshot()
  return JSON.stringify([
    value,
    context.abort?.reason,
    context.transition?.reason,
    [model.reply, model.said, model.isStarted, model.troubles],
    run.transcript.map(({ type }) => type[0]).join(''),
    attempts.flatMap(({ executor, book }, index) => {
      const isCurrent = index === attempts.length - 1
      const isAlive = book.calls.some(({ body, phase }) => body?.isRunning === true || phase.startsWith('executing'))
      // a finished attempt that is not the last no longer matters
      return isCurrent || isAlive ? [[executor.actor.getSnapshot().value, callsInShort(executor, book, bodies)]] : []
    }),
    clock.dueIn,
    world.backgroundInShort(),
    [
      host.signal.aborted,
      world.hasReaderLeft,
      world.hasSteered,
      world.hasSent,
      world.requestsAtAbort !== undefined,
      world.hasInterrupted,
    ],
    world.result?.reason,
  ])
}

/** For each call: the state of its chart and its body, and what readers got. */
function callsInShort(
  { actor }: StreamingToolExecutor,
  book: Pick<EvidenceBook, 'find'>,
  bodies: HeldBodies,
): unknown[] {
  return actor.getSnapshot().context.run.calls.map((call) => {
    const snapshot = call.ref?.getSnapshot()
    const { cause, ending, isHooked, isPermitted } = (snapshot?.context ?? {}) as Partial<CallContext>
    const body = bodies.byId.get(call.id)
    const seen = book.find(call.id)
    return [
      call.stage,
      call.isSafe,
      call.keys,
      snapshot?.value,
      [cause?.kind, ending?.by, ending?.by === 'abort' && [ending.cause.kind, ending.reached], isHooked, isPermitted],
      call.port.unread,
      body && [
        body.starts,
        body.isRunning,
        body.isAbandoned,
        body.outcome,
        body.reported,
        body.signal.aborted,
        body.modifies,
      ],
      seen && [seen.progressRead, seen.results.map(({ text }) => text)],
    ]
  })
}
