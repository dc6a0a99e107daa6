import { defineConfig } from 'vitest/config'

const at = (path: string): string => new URL(path, import.meta.url).pathname

export default defineConfig({
  resolve: {
    alias: [
      { find: /^signalbox$/, replacement: at('./src/index.ts') },
      { find: /^signalbox\/machines$/, replacement: at('./machines/public.ts') },
      {
        find: /^signalbox\/(node|anthropic|openai|ai-sdk|scripted|sub-agent|tools|testing|mcp)$/,
        replacement: at('./src/$1/index.ts'),
      },
      { find: /^signalbox\/transcripts$/, replacement: at('./src/transcript/index.ts') },
      { find: /^signalbox\/inspect$/, replacement: at('./src/inspect/index.ts') },
      { find: /^signalbox\/inspect\/server$/, replacement: at('./src/inspect-server/index.ts') },
      { find: /^signalbox\/inspect\/replay$/, replacement: at('./src/replay-page/index.ts') },
      {
        find: /^@signalbox\/(xstate|stately)-inspect\/server$/,
        replacement: at('./packages/$1-inspect/src/server.ts'),
      },
    ],
  },
  test: {
    include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    // one less than there are cores, which is the default, would leave half of a small machine idle
    maxWorkers: '100%',
    // a test that hangs must end; how long one takes says nothing
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    coverage: {
      provider: 'v8',
      include: ['src/**', 'machines/**'],
      reporter: ['text-summary', 'json-summary'],
    },
  },
})
