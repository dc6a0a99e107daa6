import type { CallContext } from '../../machines/index.ts'
import type { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'
import type { EvidenceBook } from './evidence-book.ts'
import type { HeldBodies } from './held-bodies.ts'
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

/** For each call: the state of its chart and its body, and what readers got. */
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
