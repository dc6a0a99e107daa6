import type { TestFramework } from './describe-executor.ts'
import { type MakeToolRunner, type RunnerAbility, RunnerBench } from './runner-bench.ts'
import { runnerTools } from './runner-tools.ts'
import { toolRunnerRules } from './tool-runner-rules.ts'

export interface ToolRunnerTraits {
  /** The abilities that the runner lacks, each with the reason. The rules that need it are listed with it, and not checked. */
  readonly lacks?: { readonly [Ability in RunnerAbility]?: string } | undefined
}

/**
 * Registers the rules of a tool runner as tests, for authors of runners.
 *
 * @example
 * describeToolRunner((tools) => ({ runner: myRunner({ tools }), effects: effectsFile() }), { describe, it })
 */
export function describeToolRunner(
  makeRunner: MakeToolRunner,
  { describe, it }: TestFramework & { it: { skip?(name: string, body: () => Promise<void>): unknown } },
  { lacks = {} }: ToolRunnerTraits = {},
): void {
  describe('a tool runner', () => {
    for (const [name, { needs, test }] of Object.entries(toolRunnerRules)) {
      const reason = needs && lacks[needs]
      const check = async (): Promise<void> => {
        const bench = new RunnerBench(await makeRunner(runnerTools))
        try {
          if (needs !== undefined && bench.given[needs] === undefined) {
            throw new Error(`The runner under test has no ${needs}. Add it, or say in \`lacks\` why there is none.`)
          }
          await test(bench)
        } finally {
          await bench.end()
        }
      }
      if (reason === undefined) it(name, check)
      else (it.skip ?? it)(`${name} (not checked: ${reason})`, async () => undefined)
    }
  })
}
