/** Why work ended before it was complete. */
export type StoppedBy = 'abort' | 'timeout'

/** A signal that aborts with another signal, or after a timeout. */
export interface Deadline {
  readonly signal: AbortSignal
  /** What came first: the other signal or the timeout. Undefined while neither has. */
  readonly stoppedBy: StoppedBy | undefined
  /** Call this when the work is done; until then a timer keeps everything alive. */
  clear(): void
}

/**
 * Not `AbortSignal.any([AbortSignal.timeout(…)])`: Node 20 may garbage-collect the inner signal, and then the
 * timeout never fires.
 */
export function deadline(signal: AbortSignal, ms: number): Deadline {
  const controller = new AbortController()
  let stoppedBy: StoppedBy | undefined
  const stop = (by: StoppedBy, reason: unknown): void => {
    stoppedBy ??= by
    controller.abort(reason)
  }
  const follow = (): void => stop('abort', signal.reason)
  const timer = setTimeout(() => stop('timeout', new DOMException(`Timed out after ${ms} ms`, 'TimeoutError')), ms)
  if (signal.aborted) follow()
  else signal.addEventListener('abort', follow, { once: true })
  return {
    signal: controller.signal,
    get stoppedBy() {
      return stoppedBy
    },
    clear() {
      clearTimeout(timer)
      signal.removeEventListener('abort', follow)
    },
  }
}

const finishMs = 1_000

/** Aborts a moment after another signal: time to check and format what was found before the stop. */
export function finishingTime(signal: AbortSignal): Pick<Deadline, 'signal' | 'clear'> {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const start = (): void => {
    timer = setTimeout(() => controller.abort(signal.reason), finishMs)
  }
  if (signal.aborted) start()
  else signal.addEventListener('abort', start, { once: true })
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer)
      signal.removeEventListener('abort', start)
    },
  }
}
