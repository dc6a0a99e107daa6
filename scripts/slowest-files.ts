import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

/** At the end of a long run, prints the ten test files that took longest. */
export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length < 50) return
    const timed = modules.map((module) => {
      const { collectDuration, setupDuration, duration } = module.diagnostic()
      return {
        name: relative(process.cwd(), module.moduleId),
        seconds: (collectDuration + setupDuration + duration) / 1_000,
      }
    })
    const slowest = timed.sort((a, b) => b.seconds - a.seconds).slice(0, 10)
    const lines = slowest.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(8)} s  ${name}`)
    console.log(`\n The ten slowest files\n${lines.join('\n')}`)
  }
}
