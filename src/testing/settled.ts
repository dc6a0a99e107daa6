const { setImmediate: immediate } = globalThis as { setImmediate?: (then: () => void) => unknown }
const { setTimeout: timeout } = globalThis
/** Taken when the module loads, so that fake timers of a test runner cannot hold it up. */
const later = immediate ?? ((then: () => void) => timeout(then, 0))

/** Lets everything run that can run without time passing: all microtasks, and what they start. */
export const settled = (): Promise<void> => new Promise((resolve) => void later(resolve))
