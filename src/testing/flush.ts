const { setImmediate: immediate } = globalThis as { setImmediate?: (then: () => void) => unknown }
const { setTimeout: timeout } = globalThis
/** Captured at module load, so that a test runner's fake timers do not block it. */
const later = immediate ?? ((then: () => void) => timeout(then, 0))

/** Waits until everything that needs no timer has run: all microtasks, including those they start. */
export const flush = (): Promise<void> => new Promise((resolve) => void later(resolve))
