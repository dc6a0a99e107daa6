import type { CallContext } from '../../machines/index.ts'
import type { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'
import type { EvidenceBook } from './evidence-book.ts'
import type { HeldBodies } from './held-bodies.ts'
import type { HeldWorld } from './held-world.ts'

/**
 * All that can make a difference to what happens next, as far as it can be seen: both charts, the books, the bodies, what
 * is open, what readers got and which timers are set. Worlds with the same fingerprint are taken for the same.
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
    run.settled,
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

/** Each call: where its chart is, what its body does, what readers got of it. */
export function callsInShort(
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
