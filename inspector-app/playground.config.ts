import { resolve } from 'node:path'
import { defineConfig } from 'vite'
import { chartLayouts } from './build/chart-layouts.ts'
import { elkWorker } from './build/elk-worker.ts'

const root = resolve(import.meta.dirname, '..')

/** The playground: static files that work under any path of any web server. */
export default defineConfig({
  root: resolve(import.meta.dirname, 'playground'),
  publicDir: resolve(import.meta.dirname, 'public'),
  base: './',
  plugins: [chartLayouts(), elkWorker()],
  resolve: {
    alias: [
      { find: /^signalbox$/, replacement: resolve(root, 'src/index.ts') },
      { find: /^signalbox\/scripted$/, replacement: resolve(root, 'src/query/scripted/index.ts') },
      { find: /^signalbox\/inspect$/, replacement: resolve(root, 'src/inspect/index.ts') },
    ],
  },
  optimizeDeps: {
    include: ['preact', 'preact/hooks', 'preact/jsx-dev-runtime', 'elkjs/lib/elk-api.js', 'xstate', 'zod'],
  },
  server: { host: '127.0.0.1', fs: { allow: [root] } },
  build: {
    outDir: resolve(root, 'dist/playground'),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
  },
})
