import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until this process has no more work of its own. */
export async function untilIdle() {
  for (let quiet = 0; quiet < 2; ) {
    const before = process.cpuUsage()
    await sleep(15)
    const { user, system } = process.cpuUsage(before)
    quiet = user + system < 3_000 ? quiet + 1 : 0
  }
}
