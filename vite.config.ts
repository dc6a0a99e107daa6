import { existsSync, readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './scripts/longest-first.ts'

const at = (path: string): string => new URL(path, import.meta.url).pathname

/**
 * Every folder of tests is a project for `vitest --project query`. A package is one by its own name. Otherwise there are
 * only two projects, because each transforms every module again.
 */
const rooms: Room[] = [
  ...folders('test').map((name) => ({ name, include: [`test/${name}/**/*.test.ts`] })),
  ...folders('packages')
    .filter((name) => existsSync(at(`./packages/${name}/test`)))
    .map((name) => ({ name, include: [`packages/${name}/test/**/*.test.ts`] })),
]

interface Room {
  readonly name: string
  readonly include: string[]
  readonly exclude?: string[]
  readonly isolate?: boolean
}

/** Browsers, builds and packing, other programs, real wires. */
const outside = [
  'test/{e2e,packed,endurance}/**/*.test.ts',
  'test/house/{agent-sdk,bridges,bundle,ensure-programs,examples,exports,readme}.test.ts',
  'test/node/local-runner.test.ts',
  'test/node/file-journals/processes.test.ts',
  'test/testing/mutants.test.ts',
  'packages/{mcp,cli,postgres,bullmq,xstate-inspect,stately-inspect}/**/*.test.ts',
  'packages/tools/test/{*,shell}/{differential,real}*.test.ts',
  'packages/tools/test/{races,grep-dialect,search,isolation,aborted-commands,bash*,bubblewrap,web*,host-*,leftovers,docs,background*,scan-files,rebound-names,wrappers}.test.ts',
  'packages/tools/test/shell/{same-words,exact-rule,git-traps}.test.ts',
]

/** Replace or reload modules, measure memory, or take over the errors of the process. */
const replacing = [
  'packages/tools/test/isolation.test.ts',
  'packages/tools/test/rebound-names.test.ts',
  'test/chart-engine/choose-engine.test.ts',
  'test/chart-engine/table-actor.test.ts',
  'test/charts/every-transition-matters.test.ts',
  'test/charts/machines-entry.test.ts',
  'test/house/loading.test.ts',
  'test/inspect/server/a-lot.test.ts',
  'test/inspect/xstate-fields.test.ts',
  'test/messages/ids-and-time.test.ts',
  'test/testing/docs.test.ts',
]

/** Random campaigns and long walks. */
const long = [
  'test/{reference-executor,reference-query,chart-engine,charts}/**/*.test.ts',
  'test/inspect/{server,replay-page}/**/*.test.ts',
  'test/inspect/{what-if*,waiting-ranges,schedule-watch,run-model/follows-executor}.test.ts',
  'test/testing/{conformance,coverage,explore*,invariants,pasted,recording,simulate,soak}.test.ts',
  'test/{adapters,query}/*{service,wire,same-meaning,clients,streamtext,stream-text}*.test.ts',
  'test/adapters/{nasty-*,garbage,openai-conversations}.test.ts',
  'test/inspector-app/reduce.test.ts',
  'test/durable/{random-*,agent-crashes}.test.ts',
  'test/executor/keyed-turns.test.ts',
  'test/node/file-journals/faults.test.ts',
  'test/transcripts/{properties,answer-open-calls,compact-tool-results}.test.ts',
  'test/{permission,hooks}/*{properties,every-combination}*.test.ts',
  'packages/tools/test/workspace/path-fuzz.test.ts',
]

/** Count what a process keeps or leaves behind. */
const counting = ['test/endurance/*.test.ts', 'packages/tools/test/watchdog.test.ts']

/** All other files share their modules, because loading them took longer than most tests. */
const alone = [...counting, ...replacing]
const halves: Room[] = [
  { name: 'alone', include: alone },
  { name: 'shared', include: ['{test,packages/*/test}/**/*.test.ts'], exclude: alone, isolate: false },
]
const isRoomAsked = process.argv.some((word) => word.startsWith('--project'))

/** `npm run test:quick` leaves these out. */
const slow = [...outside, ...long]

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
    projects: (isRoomAsked ? rooms : halves).map(({ exclude = [], ...room }) => ({
      extends: true as const,
      // a project does not take the mode over, so it is said here
      test: { ...room, exclude: ['**/node_modules/**', ...exclude, ...(mode === 'quick' ? slow : [])] },
    })),
    setupFiles: [
      './test/support/seed.ts',
      './test/support/use-engine.ts',
      // holds every request of every test to the rules of the service
      './test/support/validated-requests.ts',
    ],
    // more than there are cores: many tests wait for a browser, a server or a process most of their time
    maxWorkers: availableParallelism() + 2,
    // a test that hangs must end; how long one takes says nothing
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // processes, sockets and browsers on a busy machine: what passes only on the second try is listed at the end
    retry: 1,
    expect: { poll: { timeout: 60_000 } },
    sequence: { sequencer: LongestFirst },
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
