import { relative } from 'node:path'
import type { Reporter, TestCase, TestModule } from 'vitest/node'

/** At the end of a run: the tests that passed only on the second try, and after a long run the ten slowest files. */
export default class RunReport implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const unsteady = modules.flatMap((module) =>
      [...module.children.allTests('passed')]
        .filter((test) => test.diagnostic()?.flaky)
        .map((test) => `    ${nameOf(module)} > ${test.fullName}${firstError(test)}`),
    )
    if (unsteady.length > 0)
      console.log(`\n UNSTEADY: passed only on the second try. Find out why.\n${unsteady.join('\n')}`)
    if (modules.length < 50) return
    const timed = modules.map((module) => {
      const { collectDuration, setupDuration, duration } = module.diagnostic()
      return { name: nameOf(module), seconds: (collectDuration + setupDuration + duration) / 1_000 }
    })
    const slowest = timed.sort((a, b) => b.seconds - a.seconds).slice(0, 10)
    const lines = slowest.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(8)} s  ${name}`)
    console.log(`\n The ten slowest files\n${lines.join('\n')}`)
  }
}

/** Why the first try failed. */
function firstError(test: TestCase): string {
  const [error] = test.result().errors ?? []
  const lines = (error?.stack ?? error?.message ?? '').split('\n').filter((line) => !line.includes('/node_modules/'))
  return lines.map((line) => `\n        ${line}`).join('')
}

const nameOf = (module: TestModule): string => relative(process.cwd(), module.moduleId)
