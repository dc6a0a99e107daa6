import { resolve } from 'node:path'
import { defineConfig } from 'vite'
import { chartLayouts } from './build/chart-layouts.ts'
import { elkWorker } from './build/elk-worker.ts'

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [chartLayouts(), elkWorker()],
  server: { host: '127.0.0.1' },
  build: {
    outDir: resolve(import.meta.dirname, '../dist/inspector-app'),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
  },
})
