import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take longest, the longest first, so that both workers end at the same time. */
const longest = [
  'test/charts/every-transition-matters',
  'test/charts/walk-executor-chart',
  'test/e2e/live',
  'test/packed/library',
  'test/testing/mutants',
  'test/e2e/agent',
  'packages/cli/test/run-command',
  'test/e2e/embed',
  'test/e2e/playground',
  'test/e2e/charts',
  'test/packed/packages',
  'packages/bullmq/test/bull-runner',
  'packages/tools/test/shell/differential',
  'test/testing/explore-crashes',
  'packages/tools/test/races',
  'packages/cli/test/terminal',
  'test/executor/keyed-turns',
  'packages/bullmq/test/serve-sessions',
].map((name) => `/${name}.test.ts`)

/** The order of files within a project: the longest first, then as Vitest sorts them. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = longest.findIndex((name) => moduleId.endsWith(name))
      return index < 0 ? longest.length : index
    }
    return sorted.sort((a, b) => (a.project === b.project ? rank(a) - rank(b) : 0))
  }
}
