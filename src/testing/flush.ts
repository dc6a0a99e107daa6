const { setImmediate: immediate } = globalThis as { setImmediate?: (then: () => void) => unknown }
const { setTimeout: timeout } = globalThis
/** Captured at module load, so that a test runner's fake timers do not block it. */
const later = immediate ?? ((then: () => void) => timeout(then, 0))

/** The commit of a journal waits for the end of its step, and what follows may append again. */
const steps = 3

/** Waits until everything that needs no timer has run: all microtasks, those they start, and commits in memory. */
export async function flush(): Promise<void> {
  for (let step = 0; step < steps; step++) await new Promise<void>((resolve) => void later(resolve))
}
