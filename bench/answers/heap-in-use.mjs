import { setImmediate as nextTick } from 'node:timers/promises'

/** After everything that can be collected has been. */
export async function heapInUse() {
  for (let pass = 0; pass < 3; pass++) {
    await nextTick()
    globalThis.gc()
  }
  return process.memoryUsage().heapUsed
}
