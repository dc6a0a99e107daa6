import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take longest, the longest first, so that all workers end at the same time. */
const longest = [
  // in processes of their own: those that mostly wait come first, beside those that compute
  'packages/bullmq/test/bull-runner',
  'packages/bullmq/test/serve-sessions',
  'packages/bullmq/test/faults',
  'test/packed/library',
  'test/packed/packages',
  'test/e2e/live',
  'packages/bullmq/test/random-kills',
  'packages/bullmq/test/redis-journals',
  'packages/cli/test/run-command',
  'packages/cli/test/terminal',
  'test/e2e/agent',
  'test/e2e/embed',
  'test/e2e/playground',
  'test/e2e/charts',
  'packages/tools/test/races',
  'packages/tools/test/shell/differential',
  'packages/cli/test/durable',
  'packages/mcp/test/faults',
  'test/testing/mutants',
  'test/charts/every-transition-matters',
  // with shared modules
  'test/node/file-journals/kills',
  'test/permission/every-combination',
  'test/charts/walk-query-chart',
  'test/charts/walk-executor-chart',
  'test/charts/walk-call-chart',
  'test/reference-executor/random-turns',
  'test/testing/explore-crashes',
  'test/chart-engine/random-machines',
  'test/chart-engine/table-equals-chart',
  'test/node/file-journals/faults',
  'test/query/wire',
  'test/reference-query/random-queries',
  'test/testing/soak',
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
