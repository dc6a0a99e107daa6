import { resolve } from 'node:path'
import { defineConfig } from 'vite'
import { chartLayouts } from './build/chart-layouts.ts'
import { onePage } from './build/one-page.ts'

/** The single-file page that a recording is inserted into. */
export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  plugins: [chartLayouts(), onePage('replay.html')],
  build: {
    outDir: resolve(import.meta.dirname, '../dist/inspector-app/replay'),
    emptyOutDir: true,
    modulePreload: false,
    target: 'es2022',
    rollupOptions: { input: resolve(import.meta.dirname, 'src/replay/main.tsx') },
  },
})
