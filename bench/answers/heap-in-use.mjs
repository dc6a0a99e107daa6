import { setImmediate as nextTick } from 'node:timers/promises'

/** The heap in use after a full garbage collection. */
export async function heapInUse() {
  for (let pass = 0; pass < 3; pass++) {
    await nextTick()
    globalThis.gc()
  }
  return process.memoryUsage().heapUsed
}
