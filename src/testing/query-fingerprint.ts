import { callsInShort } from './fingerprint.ts'
import type { HeldConversation } from './held-conversation.ts'

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
