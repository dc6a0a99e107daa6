import { isMcpFailure, mcpFailure } from './mcp-failure.ts'

/**
 * A request that was in flight when a connection broke may have broken it. Such requests are retried one by one, so
 * that a request that breaks the connection every time fails alone. Attempts of one call share a signal, its identity.
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
      if (signal.aborted) throw mcpFailure('The call was stopped before it was sent again.')
      return watched(signal, run)
    })
    line = mine.catch(() => undefined)
    return Promise.race([mine, stopped(signal)])
  }
}

/** An aborted call leaves the queue at once. */
const stopped = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(mcpFailure('The call was stopped while it waited to be sent again.'))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
