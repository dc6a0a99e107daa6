import { existsSync, readdirSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

const at = (path: string): string => new URL(path, import.meta.url).pathname

/** Every folder of tests is a project: `vitest --project query`. A package is one by its own name. */
const rooms = [
  ...folders('test').map((name) => ({ name, include: [`test/${name}/**/*.test.ts`] })),
  ...folders('packages')
    .filter((name) => existsSync(at(`./packages/${name}/test`)))
    .map((name) => ({ name, include: [`packages/${name}/test/**/*.test.ts`] })),
]

/**
 * `npm run test:quick` leaves these out: browsers, builds and packing, other programs, real wires, random campaigns, long
 * walks, and tests that replace a module, because all files share their modules there.
 */
const slow = [
  'test/{e2e,packed,endurance,reference-executor,reference-query,chart-engine}/**',
  'test/house/{agent-sdk,bridges,bundle,ensure-programs,examples,exports,loading,readme}.test.ts',
  'test/inspect/{server,replay-page}/**',
  'test/inspect/{what-if*,waiting-ranges,schedule-watch,xstate-fields,run-model/follows-executor}.test.ts',
  'test/testing/{conformance,coverage,docs,explore*,invariants,mutants,pasted,recording,simulate,soak}.test.ts',
  'test/charts/*.test.ts',
  'test/{adapters,query}/*{service,wire,same-meaning,clients,streamtext,stream-text}*.test.ts',
  'test/adapters/{nasty-*,garbage,openai-conversations}.test.ts',
  'test/inspector-app/reduce.test.ts',
  'test/durable/{random-*,agent-crashes}.test.ts',
  'test/executor/keyed-turns.test.ts',
  'test/node/local-runner.test.ts',
  'test/node/file-journals/{faults,processes}.test.ts',
  'test/transcripts/{properties,answer-open-calls,compact-tool-results}.test.ts',
  'test/{permission,hooks}/*{properties,every-combination}*.test.ts',
  'packages/{mcp,cli,postgres,bullmq,xstate-inspect,stately-inspect}/**',
  'packages/tools/test/{*,shell}/{differential,real}*.test.ts',
  'packages/tools/test/{races,grep-dialect,search,isolation,aborted-commands,bash*,bubblewrap,web*,host-*,leftovers,docs,background*,scan-files,rebound-names,wrappers}.test.ts',
  'packages/tools/test/shell/{same-words,exact-rule,git-traps}.test.ts',
  'packages/tools/test/workspace/path-fuzz.test.ts',
]

export default defineConfig(({ mode }) => ({
  resolve: {
    alias: [
      { find: /^signalbox$/, replacement: at('./src/index.ts') },
      { find: /^signalbox\/machines$/, replacement: at('./machines/index.ts') },
      { find: /^signalbox\/(node|testing|transcripts|inspect|durable|remote)$/, replacement: at('./src/$1/index.ts') },
      { find: /^signalbox\/(anthropic|openai|ai-sdk)$/, replacement: at('./src/models/$1/index.ts') },
      { find: /^signalbox\/(scripted|sub-agent)$/, replacement: at('./src/query/$1/index.ts') },
      { find: /^signalbox\/inspect\/server$/, replacement: at('./src/inspect/server/index.ts') },
      { find: /^signalbox\/inspect\/replay$/, replacement: at('./src/inspect/replay-page/index.ts') },
      { find: /^@signalbox\/(tools|mcp|postgres|bullmq)$/, replacement: at('./packages/$1/src/index.ts') },
      {
        find: /^@signalbox\/(xstate|stately)-inspect\/server$/,
        replacement: at('./packages/$1-inspect/src/server.ts'),
      },
    ],
  },
  test: {
    projects: rooms.map((room) => ({
      extends: true as const,
      // a project does not take the mode over, so it is said here
      test: { ...room, exclude: ['**/node_modules/**', ...(mode === 'quick' ? slow : [])] },
    })),
    setupFiles: [
      './test/support/seed.ts',
      './test/support/use-engine.ts',
      // holds every request of every test to the rules of the service
      './test/support/validated-requests.ts',
    ],
    // one less than there are cores, which is the default, would leave half of a small machine idle
    maxWorkers: '100%',
    // a test that hangs must end; how long one takes says nothing
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // processes, sockets and browsers on a busy machine: what passes only on the second try is listed at the end
    retry: 1,
    expect: { poll: { timeout: 60_000 } },
    reporters: ['default', './scripts/run-report.ts'],
    coverage: {
      provider: 'v8',
      include: ['src/**', 'machines/**'],
      reporter: ['text-summary', 'json-summary'],
    },
  },
}))

function folders(path: string): string[] {
  return readdirSync(at(`./${path}`), { withFileTypes: true }).flatMap((each) => (each.isDirectory() ? each.name : []))
}
