import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'
import { chromiumArguments, findChromium } from '../scripts/find-chromium.mjs'
import { elkWorker } from './build/elk-worker.ts'

const executablePath = findChromium()

/** Component tests of the page, in a real browser. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [elkWorker()],
  optimizeDeps: {
    include: ['preact', 'preact/hooks', 'preact/jsx-runtime', 'preact/jsx-dev-runtime', 'elkjs/lib/elk-api.js', 'zod'],
  },
  test: {
    include: ['test/**/*.test.tsx'],
    testTimeout: 60_000,
    // as in the main run: what passes only on the second try is listed at the end
    retry: 1,
    reporters: ['default', '../scripts/run-report.ts'],
    expect: { poll: { timeout: 20_000 } },
    api: { host: '127.0.0.1' },
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      provider: playwright({
        launchOptions: { ...(executablePath !== undefined && { executablePath }), args: chromiumArguments },
      }),
      instances: [{ browser: 'chromium' }],
    },
  },
})
