import { resolve } from 'node:path'
import { defineConfig } from 'vite'
import { chartLayouts } from './build/chart-layouts.ts'
import { elkNotice, packedElkWorker } from './build/elk-worker.ts'
import { libraryOutside } from './build/library-outside.ts'

const isElk = (name: string): boolean => name.includes('elk-worker-packed')

/** `signalbox/inspect/app`: a module for host pages. */
export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  plugins: [libraryOutside('../..'), chartLayouts(), packedElkWorker()],
  define: { 'process.env.NODE_ENV': '"production"' },
  build: {
    outDir: resolve(import.meta.dirname, '../dist/inspector-app/embed'),
    emptyOutDir: true,
    target: 'es2022',
    lib: { entry: resolve(import.meta.dirname, 'src/embed/index.ts'), formats: ['es'], fileName: () => 'index.js' },
    rollupOptions: {
      output: {
        chunkFileNames: ({ name }) => (isElk(name) ? 'elk-worker-packed.js' : '[name].js'),
        banner: ({ name }) => (isElk(name) ? elkNotice : ''),
      },
    },
  },
})
