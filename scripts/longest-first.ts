import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that take longest, so that all workers end at the same time. Those that mostly wait (for servers, registries and
 * other processes) alternate with those that compute, so that no core is idle while all workers wait.
 */
const longest = [
  ...['packages/bullmq/test/bull-runner', 'test/e2e/agent'],
  ...['test/packed/packages', 'test/e2e/playground'],
  ...['packages/tools/test/shell/differential', 'test/e2e/charts'],
  ...['packages/bullmq/test/serve-sessions', 'packages/tools/test/races'],
  ...['packages/postgres/test/kills', 'test/e2e/embed'],
  ...['test/packed/library', 'test/e2e/recordings'],
  ...['packages/bullmq/test/faults', 'packages/cli/test/terminal'],
  ...['test/node/file-journals/kills', 'test/e2e/live'],
  ...['packages/cli/test/run-command', 'test/charts/walk-executor-chart'],
  ...['packages/postgres/test/postgres-journals', 'test/e2e/questions'],
  ...['packages/bullmq/test/redis-journals', 'test/charts/walk-call-chart'],
  ...['packages/bullmq/test/random-kills', 'test/query/wire'],
  ...['packages/mcp/test/faults', 'test/e2e/replay'],
  ...['packages/postgres/test/taken-over', 'test/testing/mutants'],
  ...['packages/tools/test/search', 'test/e2e/connection'],
  ...['test/packed/manifests', 'test/chart-engine/random-machines'],
  ...['test/e2e/sessions', 'test/node/file-journals/faults'],
  ...['packages/tools/test/host-ends', 'test/e2e/kit'],
  ...['packages/tools/test/aborted-commands', 'test/charts/walk-query-chart'],
  'test/reference-executor/random-turns',
  'test/permission/every-combination',
  'test/testing/explore-crashes',
  'test/chart-engine/table-equals-chart',
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
