/**
 * The rooms whose sources are changed, and the folders and files of tests that are asked, in two rounds: units first, and
 * random campaigns and walks through the charts only where no unit noticed.
 */
const units = [
  'test/executor',
  'test/cases',
  'test/permission',
  'test/hooks',
  'test/query',
  'test/messages',
  'test/tool',
]

/** Units that take longer than a second count as campaigns. */
export const slowUnits =
  /\/(wire|properties|every-combination|batch|invalid-input|shown-input|request-messages|queue-and-gate|odd-blocks|aborts-and-hangs|re-entrancy|ten-thousand|retained|repair-transcript|compact-tool-results)\.test\.ts$/

export const rooms = {
  machines: {
    units: [...units, 'packages/mcp/test/connection-chart.test.ts'],
    campaigns: [
      'test/charts',
      'test/permission/every-combination.test.ts',
      'test/reference-executor',
      'test/reference-query',
      'test/testing/explore.test.ts',
      'test/inspect/schedule-watch.test.ts',
    ],
  },
  'src/executor': {
    units: [...units, 'test/endurance/left-behind.test.ts'],
    campaigns: [
      'test/executor/batch',
      'test/reference-executor',
      'test/reference-query',
      'test/testing/explore.test.ts',
    ],
  },
  'src/pipeline': {
    units,
    campaigns: [
      'test/durable/answers.test.ts',
      'test/durable/open-questions.test.ts',
      'test/durable/recovery.test.ts',
      'test/permission/every-combination.test.ts',
      'test/permission/properties.test.ts',
      'test/hooks/properties.test.ts',
      'test/reference-executor',
      'test/testing/explore.test.ts',
    ],
  },
  'src/query': {
    units: ['test/query', 'test/cases', 'test/adapters/scripted.test.ts', 'test/inspect/query-commands.test.ts'],
    campaigns: ['test/durable', 'test/reference-query', 'test/testing/explore-query.test.ts', 'test/adapters'],
  },
  'src/transcripts': {
    units: ['test/transcripts', 'test/query/open-calls.test.ts'],
    campaigns: ['test/query', 'test/messages'],
  },
}
