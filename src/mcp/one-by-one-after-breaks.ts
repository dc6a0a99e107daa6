import { isMcpFailure, mcpFailure } from './mcp-failure.ts'

/**
 * Who was under way when a connection broke may be the one who broke it. Their further attempts run one by one, so that
 * the one that breaks it each time takes nobody else with it. A call is known by its signal, which its attempts share.
 */
export function oneByOneAfterBreaks(): <Answer>(signal: AbortSignal, run: () => Promise<Answer>) => Promise<Answer> {
  const suspects = new WeakSet<AbortSignal>()
  let line: Promise<unknown> = Promise.resolve()

  const watched = async <Answer>(signal: AbortSignal, run: () => Promise<Answer>): Promise<Answer> => {
    try {
      return await run()
    } catch (error) {
      if (isMcpFailure(error) && error.isTransport) suspects.add(signal)
      throw error
    }
  }

  return (signal, run) => {
    if (!suspects.has(signal)) return watched(signal, run)
    const mine = line.then(() => {
      if (signal.aborted) throw mcpFailure('It was stopped before it was sent again.')
      return watched(signal, run)
    })
    line = mine.catch(() => undefined)
    return Promise.race([mine, stopped(signal)])
  }
}

/** Nobody waits in a line that they have no use for any more. */
const stopped = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(mcpFailure('It was stopped while it waited to be sent again.'))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
