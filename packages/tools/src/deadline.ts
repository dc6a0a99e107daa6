/** A signal that aborts with another signal, or after a timeout. */
export interface Deadline {
  readonly signal: AbortSignal
  /** True if the timeout fired, and not the other signal. */
  readonly isLate: boolean
  /** Call this when the work is done; until then a timer keeps everything alive. */
  clear(): void
}

/**
 * Not `AbortSignal.any([AbortSignal.timeout(…)])`: Node 20 may garbage-collect the inner signal, and then the
 * timeout never fires.
 */
export function deadline(signal: AbortSignal, ms: number): Deadline {
  const controller = new AbortController()
  let isLate = false
  const stop = (): void => controller.abort(signal.reason)
  const timer = setTimeout(() => {
    isLate = !controller.signal.aborted
    controller.abort(new DOMException(`Timed out after ${ms} ms`, 'TimeoutError'))
  }, ms)
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return {
    signal: controller.signal,
    get isLate() {
      return isLate
    },
    clear() {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    },
  }
}
